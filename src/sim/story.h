// sim/story.h: minimises a failing run and describes it.
#pragma once

#include <string>

#include "sim/isolated.h"

namespace agentrt::sim {

struct CutLimits {
  std::int64_t wall_ms_max = 20'000;
  std::size_t trials_max = 2'000;
};

// Removes as many actions from the plan as possible while the same invariant still breaks.
Plan cut(const Plan& plan, Plant plant, const std::string& invariant, const CutLimits& limits);

// Describes the violation, how to reproduce it, and the last steps of the shortest failing plan.
std::string tell_story(std::uint64_t seed, Plant plant, const CutLimits& limits);

// "./dev sim --seed 7 --trace", with the planted defect.
std::string command_line(std::uint64_t seed, Plant plant);

}  // namespace agentrt::sim
