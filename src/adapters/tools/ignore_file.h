// adapters/tools/ignore_file.h: what a .gitignore leaves out of lists and searches.
//
// Lines mean what they mean to git: a pattern with a slash before its end is of the file's own
// folder, any other of every folder below it; `*`, `?` and [a-z] stay within a name, `**` goes over
// folders; a slash at the end means folders alone; `!` takes back what a line before it left out.
// The last line that fits decides. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <re2/set.h>

namespace agentrt::adapters::tools {

inline constexpr std::string_view kIgnoreFileName = ".gitignore";
inline constexpr std::size_t kIgnoreFileBytesMax = 256
                                                   << 10;  // what is behind them leaves nothing out
inline constexpr std::size_t kIgnoreLinesMax = 2'000;

class IgnoreFile {
 public:
  enum class Kind { folder, other };

  explicit IgnoreFile(std::string_view text);

  // Whether the path, relative to the file's folder, is left out. Nothing: no line fits.
  std::optional<bool> leaves_out(std::string_view path, Kind kind) const;

 private:
  struct Line {
    bool takes_back = false;
    bool folders_only = false;
  };

  void add(std::string_view line);

  std::vector<Line> lines_;                     // those that have an expression
  std::unique_ptr<re2::RE2::Set> expressions_;  // one a line; absent: nothing is left out
};

}  // namespace agentrt::adapters::tools
