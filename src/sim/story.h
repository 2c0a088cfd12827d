// sim/story.h: a failing run, cut down and told.
#pragma once

#include <string>

#include "sim/isolated.h"

namespace agentrt::sim {

struct CutLimits {
  std::int64_t wall_ms_max = 20'000;
  std::size_t trials_max = 2'000;
};

// The plan with as many actions taken away as go while the same invariant still breaks.
Plan cut(const Plan& plan, Plant plant, const std::string& invariant, const CutLimits& limits);

// What broke, how to see it again, and the last steps of the shortest plan that breaks it.
std::string tell_story(std::uint64_t seed, Plant plant, const CutLimits& limits);

// "./dev sim --seed 7 --trace", with the defect that is planted.
std::string command_line(std::uint64_t seed, Plant plant);

}  // namespace agentrt::sim
