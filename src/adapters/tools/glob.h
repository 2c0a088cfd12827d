// adapters/tools/glob.h: which paths a pattern means. `*` and `?` stay within a name, `**` goes
// over any number of folders, {a,b} is either; everything else is itself. A pattern without a slash
// means names in any folder. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/tools/outcome.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kGlobChoicesMax = 64;  // that the braces of a pattern may give
inline constexpr std::size_t kGlobBytesMax = 1'024;

class Glob {
 public:
  static Outcome<Glob> read(std::string_view pattern);

  // `path` is relative to where the pattern starts.
  bool fits(std::string_view path) const;

 private:
  std::vector<std::string> choices_;
};

}  // namespace agentrt::adapters::tools
