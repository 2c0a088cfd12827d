// sim/isolated.h: runs simulations in child processes, so that a runtime that aborts ends its own
// run and not the whole simulation.
//
// A sweep distributes a range of seeds over a few processes. A trial runs one plan in one process
// and returns all its output. Single-threaded; POSIX.
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
  std::optional<std::uint64_t> failed;  // the lowest failing seed
  std::uint64_t seeds = 0;              // completed
  Counts counts;
};

// `progress` is called periodically with the result so far.
SweepResult run_sweep(const Sweep& sweep, const std::function<void(const SweepResult&)>& progress);

enum class Tell { verdict, everything };

struct Trial {
  Checked broken;
  Counts counts;
  std::vector<std::string> lines;  // the trace, with Tell::everything
};

Trial run_trial(const Plan& plan, Plant plant, Tell tell);

}  // namespace agentrt::sim
