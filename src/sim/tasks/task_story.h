// sim/tasks/task_story.h: random histories of tasks under virtual time, with crashes, late reports
// and claims at the same moment. Each history is checked by the rules of conformance, against rows
// that are rebuilt from the log, and for timers and pages that were forgotten.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/checks.h"

namespace agentrt::sim {

// Defects that prove that the checks detect them. Each is planted in the store that the kernel
// reads, so the product contains no trace of it.
enum class TaskPlant {
  none,
  double_claim,
  forgotten_attempt,
  revived_lost_run,
  start_under_cancelled,
  early_unblock,
  dropped_timer,
};

struct TaskDefect {
  TaskPlant plant;
  std::string_view name;
  std::uint64_t seeds_max;  // it is found with a seed from 1 to this
};
std::span<const TaskDefect> task_defects();

// The first violation in the history of this seed.
Checked run_task_story(std::uint64_t seed, TaskPlant plant = TaskPlant::none);

}  // namespace agentrt::sim
