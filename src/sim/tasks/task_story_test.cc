// sim/tasks/task_story_test.cc: random histories of tasks keep the rules, and planted defects are
// found.
#include <doctest/doctest.h>

#include "sim/tasks/task_story.h"

namespace agentrt::sim {

TEST_CASE("histories of tasks keep the rules over crashes and late reports") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Checked broken = run_task_story(seed);
    if (broken) FAIL("seed " << seed << ": " << broken->invariant << ": " << broken->what);
  }
}

TEST_CASE("every planted defect of tasks is found") {
  for (const TaskDefect& defect : task_defects()) {
    CAPTURE(defect.name);
    bool found = false;
    for (std::uint64_t seed = 1; seed <= defect.seeds_max && !found; ++seed)
      found = run_task_story(seed, defect.plant).has_value();
    CHECK(found);
  }
}

}  // namespace agentrt::sim
