// policy/stars.h: wildcard matching of sequences. Pure; linear time in practice.
#pragma once

#include <cstddef>
#include <limits>

namespace agentrt::policy {

inline constexpr std::size_t kNoStar = std::numeric_limits<std::size_t>::max();

// Whether the whole row (a sequence of characters or of path names) matches the pattern, in which a
// star matches any run of elements. Backtracks to the last star.
template <class Row, class IsStar, class Fits>
bool row_fits(const Row& row, const Row& pattern, IsStar is_star, Fits fits) {
  std::size_t at = 0, in = 0, star = kNoStar, mark = 0;
  while (at < row.size()) {
    if (in < pattern.size() && is_star(pattern[in])) {
      star = in++;
      mark = at;
    } else if (in < pattern.size() && fits(row[at], pattern[in])) {
      ++in;
      ++at;
    } else if (star != kNoStar) {
      in = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && is_star(pattern[in])) ++in;
  return in == pattern.size();
}

}  // namespace agentrt::policy
