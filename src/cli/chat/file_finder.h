// cli/chat/file_finder.h: finds files of a folder by a part of their path, for completion after @.
//
// A thread walks the folder, nearest files first, and answers queries with what it has seen so far,
// so that an answer never waits for the walk. Files that .gitignore files exclude, `.git`, and
// links to folders are skipped. At most kFilesMax files are remembered. The walk is repeated when a
// query comes more than kFreshMs after it ended.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace agentrt::cli {

// How well the path matches; 0: not at all. Characters of the query must occur in order; case does
// not matter. Matches in the name of the file, at its beginning, and in short paths are better.
// Pure.
std::uint32_t match_of(std::string_view path, std::string_view query);
// The best matches among `paths`, best first. Pure.
std::vector<std::string> best_matches(std::span<const std::string> paths, std::string_view query,
                                      std::size_t count);

class FileFinder {
 public:
  static constexpr std::size_t kFilesMax = 300'000;
  static constexpr std::size_t kMatchesMax = 8;
  static constexpr std::int64_t kFreshMs = 10'000;
  static constexpr std::int64_t kPublishMs = 50;  // between two answers while it walks

  explicit FileFinder(std::string folder);
  ~FileFinder();
  FileFinder(const FileFinder&) = delete;
  FileFinder& operator=(const FileFinder&) = delete;

  struct Found {
    std::string query;
    std::vector<std::string> paths;  // relative; folders end with /
    bool complete = false;           // false: still searching
  };

  // Replaces the query before it.
  void ask(std::string query);
  // Readable when take() has an answer.
  int descriptor() const { return event_.get(); }
  std::optional<Found> take();

 private:
  void work();
  void walk();
  // Answers the newest query with the files seen so far.
  void publish(bool complete);
  bool stopping();
  bool asked();

  const std::string folder_;
  Descriptor event_;
  std::mutex mutex_;  // guards the members up to `stop_`
  std::condition_variable wake_;
  std::optional<std::string> query_;
  bool fresh_query_ = false;
  std::optional<Found> found_;
  bool stop_ = false;
  // Of the thread: the files seen, and the best matches among the first `ranked_` of them.
  std::vector<std::string> files_;
  std::size_t ranked_ = 0;
  std::string ranked_query_;
  std::vector<std::string> best_;
  std::thread thread_;  // started by the first query
};

}  // namespace agentrt::cli
