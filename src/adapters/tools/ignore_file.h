// adapters/tools/ignore_file.h: decides which paths a .gitignore file excludes from lists and
// searches.
//
// Lines have git's meaning. A pattern with a slash before its end applies to the file's own folder,
// any other pattern to every folder below it. `*`, `?` and [a-z] match within a name; `**` matches
// across folders. A trailing slash matches only folders. `!` re-includes what an earlier line
// excluded. The last matching line decides. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <re2/set.h>

namespace agentrt::adapters::tools {

inline constexpr std::string_view kIgnoreFileName = ".gitignore";
inline constexpr std::size_t kIgnoreFileBytesMax = 256 << 10;  // bytes beyond this are ignored
inline constexpr std::size_t kIgnoreLinesMax = 2'000;

class IgnoreFile {
 public:
  enum class Kind { folder, other };

  explicit IgnoreFile(std::string_view text);

  // Whether the path, relative to the file's folder, is excluded. Empty: no line matches.
  std::optional<bool> leaves_out(std::string_view path, Kind kind) const;

 private:
  struct Line {
    bool takes_back = false;
    bool folders_only = false;
  };

  void add(std::string_view line);

  std::vector<Line> lines_;                     // those with an expression
  std::unique_ptr<re2::RE2::Set> expressions_;  // one per line; absent: nothing is excluded
};

}  // namespace agentrt::adapters::tools
