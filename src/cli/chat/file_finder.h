// cli/chat/file_finder.h: finds files of a folder by a part of their path, for completion after @.
//
// A thread walks the folder, nearest files first, and answers queries with what it has seen so far,
// so that an answer never waits for the walk. Files that .gitignore files exclude, `.git`, and
// links to folders are skipped. FinderLimits bounds the walk and what is remembered of it; an
// answer says what was not searched. The walk is repeated when a query comes more than kFreshMs
// after it ended; the files of the earlier walk answer meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace agentrt::cli {

// How well a path matches; 0: not at all. Characters of the query must occur in order; case does
// not matter. Matches in the name of the file, at its beginning, and in short paths are better.
// Pure.
class PathQuery {
 public:
  explicit PathQuery(std::string_view text);
  std::uint32_t match(std::string_view path) const;

 private:
  std::string wanted_;  // in lower case
};

// The best matches that were added, best first. Pure.
class BestPaths {
 public:
  BestPaths(std::string_view query, std::size_t count) : query_(query), count_(count) {}
  void add(std::string_view path);
  std::vector<std::string> paths() const;

 private:
  struct Ranked {
    std::uint32_t match = 0;
    std::string path;
  };
  PathQuery query_;
  std::size_t count_;
  std::vector<Ranked> best_;
};

// Paths in one piece of memory: a folder may have a million.
class PathList {
 public:
  void add(std::string_view path);
  std::size_t size() const { return ends_.size(); }
  std::string_view at(std::size_t index) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

struct FinderLimits {
  std::size_t files = 1'000'000;    // remembered, with folders
  std::size_t entries = 4'000'000;  // looked at, with ignored ones
  std::size_t depth = 40;           // of folders
};

class FileFinder {
 public:
  static constexpr std::size_t kMatchesMax = 8;
  static constexpr std::int64_t kFreshMs = 10'000;
  static constexpr std::int64_t kPublishMs = 50;        // between two answers while it works
  static constexpr std::size_t kFilesPerLook = 20'000;  // ranked between two looks at the clock
  static constexpr std::size_t kEntriesPerLook = 256;   // walked between two

  explicit FileFinder(std::string folder, FinderLimits limits = {});
  ~FileFinder();
  FileFinder(const FileFinder&) = delete;
  FileFinder& operator=(const FileFinder&) = delete;

  struct Found {
    std::string query;
    std::vector<std::string> paths;  // relative; folders end with /
    bool complete = false;           // false: still searching
    std::string not_searched;        // what the limits excluded; empty: nothing
  };

  // Replaces the query before it.
  void ask(std::string query);
  // Readable when take() has an answer.
  int descriptor() const { return event_.get(); }
  std::optional<Found> take();

 private:
  using Clock = std::chrono::steady_clock;

  void work();
  void walk(PathList& into);
  // Answers the newest query from `files_`.
  void answer(bool walked);
  void publish(bool complete);
  bool stopping();
  bool asked();

  const std::string folder_;
  const FinderLimits limits_;
  Descriptor event_;
  std::mutex mutex_;  // guards the members up to `stop_`
  std::condition_variable wake_;
  std::optional<std::string> query_;
  bool fresh_query_ = false;
  std::optional<Found> found_;
  bool stop_ = false;
  // Of the thread: the files seen, and the best matches among the first `ranked_` of them.
  PathList files_;
  std::string not_searched_;
  std::string ranked_query_;
  BestPaths best_{"", kMatchesMax};
  std::size_t ranked_ = 0;
  Clock::time_point published_;
  std::thread thread_;  // started by the first query
};

}  // namespace agentrt::cli
