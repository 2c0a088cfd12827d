// adapters/tools/near_names.h: which of the names in a folder somebody may have meant.
//
// Pure. Bounded by kNamesLookedAtMax and kNearNamesMax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentrt::adapters::tools {

inline constexpr std::size_t kNamesLookedAtMax = 5'000;
inline constexpr std::size_t kNearNamesMax = 3;

// The nearest names, best first: equal but for case, then those with few letters changed.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace agentrt::adapters::tools
