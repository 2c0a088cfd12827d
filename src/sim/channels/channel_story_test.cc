// sim/channels/channel_story_test.cc: random histories of channels keep the rules, and planted
// defects are found.
#include <doctest/doctest.h>

#include "sim/channels/channel_story.h"

namespace agentrt::sim {

TEST_CASE("histories of channels keep the rules over crashes and lost connections") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Checked broken = run_channel_story(seed);
    if (broken) FAIL("seed " << seed << ": " << broken->invariant << ": " << broken->what);
  }
}

TEST_CASE("every planted defect of channels is found") {
  for (const ChannelDefect& defect : channel_defects()) {
    CAPTURE(defect.name);
    bool found = false;
    for (std::uint64_t seed = 1; seed <= defect.seeds_max && !found; ++seed)
      found = run_channel_story(seed, defect.plant).has_value();
    CHECK(found);
  }
}

}  // namespace agentrt::sim
