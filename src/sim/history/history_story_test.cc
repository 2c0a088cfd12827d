// sim/history/history_story_test.cc: models receive the conversation that rollbacks and forks
// leave, and planted defects are found.
#include <doctest/doctest.h>

#include "sim/history/history_story.h"

namespace agentrt::sim {

TEST_CASE("conversations are what rollbacks and forks leave of them, over crashes") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Checked broken = run_history_story(seed);
    if (broken) FAIL("seed " << seed << ": " << broken->invariant << ": " << broken->what);
  }
}

TEST_CASE("every planted defect of conversations is found") {
  for (const HistoryDefect& defect : history_defects()) {
    CAPTURE(defect.name);
    bool found = false;
    for (std::uint64_t seed = 1; seed <= defect.seeds_max && !found; ++seed)
      found = run_history_story(seed, defect.plant).has_value();
    CHECK(found);
  }
}

}  // namespace agentrt::sim
