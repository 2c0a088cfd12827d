// adapters/tools/line_diff.h: the difference of two texts as a unified diff, which `patch` and `git
// apply` take.
//
// The shortest script of removed and added lines (Myers), between what both texts begin and end
// with alike. Beyond kDiffLinesMax lines, kDiffChangesMax changes or kDiffStepsMax steps that
// whole part is replaced: longer, and just as right. REQUIRES: texts below 4 GiB. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agentrt::adapters::tools {

inline constexpr std::size_t kDiffLinesMax = 500'000;
inline constexpr int kDiffChangesMax = 2'000;
inline constexpr std::uint64_t kDiffStepsMax = 20'000'000;
inline constexpr std::size_t kDiffContextLines = 3;

enum class DiffOf { new_file, present_file };

struct LineDiff {
  std::string text;
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
};

// `path` is how the diff names the file: relative, or absolute. Bytes that are no text are said to
// differ and not shown.
LineDiff line_diff(std::string_view path, std::string_view before, std::string_view after,
                   DiffOf what = DiffOf::present_file);

}  // namespace agentrt::adapters::tools
