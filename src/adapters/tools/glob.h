// adapters/tools/glob.h: matches paths against a glob pattern. `*` and `?` match within a name,
// `**` matches any number of folders, {a,b} matches either; any other character matches itself. A
// pattern without a slash matches names in any folder. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/tools/outcome.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kGlobChoicesMax = 64;  // alternatives after brace expansion
inline constexpr std::size_t kGlobBytesMax = 1'024;

class Glob {
 public:
  static Outcome<Glob> read(std::string_view pattern);

  // `path` is relative to the folder the pattern applies to.
  bool fits(std::string_view path) const;

 private:
  std::vector<std::string> choices_;
};

}  // namespace agentrt::adapters::tools
