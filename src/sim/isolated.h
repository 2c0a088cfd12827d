// sim/isolated.h: runs in processes of their own, so that a runtime that stops itself ends its run
// and not the simulation.
//
// A sweep shares a range of seeds out among a few processes. A trial is one plan in one process,
// with everything it says. Single-threaded; POSIX.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/world.h"

namespace agentrt::sim {

inline constexpr unsigned kJobsMax = 64;

struct Sweep {
  std::uint64_t from = 1;
  std::uint64_t seeds = 1'000;
  Plant plant = Plant::none;
  unsigned jobs = 2;
};

struct SweepResult {
  std::optional<std::uint64_t> failed;  // the lowest seed that does
  std::uint64_t seeds = 0;              // that were run to their end
  Counts counts;
};

// `progress` is called now and then with what is done so far.
SweepResult run_sweep(const Sweep& sweep, const std::function<void(const SweepResult&)>& progress);

enum class Tell { verdict, everything };

struct Trial {
  Checked broken;
  Counts counts;
  std::vector<std::string> lines;  // what happened, with Tell::everything
};

Trial run_trial(const Plan& plan, Plant plant, Tell tell);

}  // namespace agentrt::sim
