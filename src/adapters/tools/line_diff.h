// adapters/tools/line_diff.h: computes a unified diff of two texts that `patch` and `git apply`
// accept.
//
// Strips the common beginning and end, then finds the shortest edit script (Myers). If the rest
// exceeds kDiffLinesMax lines, kDiffChangesMax changes or kDiffStepsMax steps, it is replaced as a
// whole: a longer diff, but still correct. REQUIRES: texts below 4 GiB. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt::adapters::tools {

inline constexpr std::size_t kDiffLinesMax = 500'000;
inline constexpr int kDiffChangesMax = 2'000;
inline constexpr std::uint64_t kDiffStepsMax = 20'000'000;
inline constexpr std::size_t kDiffContextLines = 3;

enum class DiffOf { new_file, present_file, removed_file };

struct LineDiff {
  std::string text;
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
};

// `path` is the file name in the diff, relative or absolute. For binary content the diff only says
// that the files differ.
LineDiff line_diff(std::string_view path, std::string_view before, std::string_view after,
                   DiffOf what = DiffOf::present_file);

// The text before the diff, from the text after it. nullopt: the diff is not one of this text, or
// does not contain the old one (binary content).
std::optional<std::string> unpatched(std::string_view after, std::string_view diff);

}  // namespace agentrt::adapters::tools
