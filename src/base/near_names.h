// base/near_names.h: suggests names that are similar to a misspelled one.
//
// Pure. Bounded by kNamesLookedAtMax and kNearNamesMax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentrt {

inline constexpr std::size_t kNamesLookedAtMax = 5'000;
inline constexpr std::size_t kNearNamesMax = 3;

// The most similar names, best first: those that differ only in case, then those with few edits.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace agentrt
