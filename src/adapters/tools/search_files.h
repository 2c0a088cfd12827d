// adapters/tools/search_files.h: the search_files tool: finds the lines that match a regular
// expression (RE2). Matches are path:line:text; context lines are path-line-text. Time is linear in
// the bytes read for any expression. Blocks; any thread.
#pragma once

#include "adapters/tools/grounds.h"
#include "adapters/tools/until.h"
#include "policy/redaction.h"
#include "tools/search_files.h"

namespace agentrt::adapters::tools {

inline constexpr std::size_t kSearchMatchesMax = 200;
inline constexpr std::size_t kSearchLineBytesMax = 64 * 1024;  // searched per line
inline constexpr std::size_t kSearchShownBytesMax = 400;       // shown per line
inline constexpr std::uint64_t kSearchBytesMax = 4ULL << 30;   // of all files together
inline constexpr std::uint64_t kSearchContextMax = 20;
inline constexpr std::size_t kExpressionBytesMax = 4'096;
inline constexpr std::int64_t kExpressionMemoryMax = 8 << 20;

Outcome<std::string> search_files(const Grounds& grounds, const policy::Redactor* redactor,
                                  const agentrt::tools::SearchFilesArgs& args,
                                  std::string_view excludes, const Until& until);

}  // namespace agentrt::adapters::tools
