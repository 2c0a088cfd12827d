// sim/world.h: one run of one plan: clients, followers, models and a disk around a node, with every
// invariant checked.
//
// The plan's actions are executed one after the other, with steps of the runtime in between. Then
// the faults stop: the runtime must become idle, each open turn must state what it waits for, every
// command is sent again, and every thread is resumed until nothing is open. The first violation
// ends the run.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/checks.h"
#include "sim/plan.h"
#include "sim/planted.h"

namespace agentrt::sim {

struct Counts {
  std::uint64_t steps = 0;
  std::uint64_t facts = 0;
  std::uint64_t commands = 0;
  std::uint64_t crashes = 0;
  std::int64_t simulated_ms = 0;
};

struct RunResult {
  Checked broken;
  Counts counts;
};

// Called with one line per occurrence; may be empty.
using Trace = std::function<void(const std::string& line)>;

RunResult run_plan(const Plan& plan, Plant plant, const Trace& trace);

}  // namespace agentrt::sim
