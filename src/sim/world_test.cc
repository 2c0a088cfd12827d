// sim/world_test.cc: tests the simulation itself: runs are reproducible, plans are minimised, and
// every planted defect is found and reported.
#include "sim/world.h"

#include <doctest/doctest.h>

#include <set>

#include "sim/story.h"

namespace agentrt::sim {
namespace {

std::vector<std::string> trace_of(const Plan& plan) {
  std::vector<std::string> out;
  run_plan(plan, Plant::none, [&](const std::string& line) { out.push_back(line); });
  return out;
}

}  // namespace

TEST_CASE("the same seed draws the same plan and runs the same way") {
  for (const std::uint64_t seed : {3, 14, 159}) {
    CHECK(draw_plan(seed).actions == draw_plan(seed).actions);
    const auto first = trace_of(draw_plan(seed));
    CHECK(first.size() > 10);
    CHECK(trace_of(draw_plan(seed)) == first);
  }
}

TEST_CASE("plans of a few seeds hold every kind of action") {
  std::set<Kind> seen;
  for (std::uint64_t seed = 1; seed < 60; ++seed)
    for (const Action& action : draw_plan(seed).actions) {
      seen.insert(action.kind);
      CHECK_FALSE(in_words(action).empty());
      if (is_command(action.kind) || is_read(action.kind))
        CHECK(schema::read_command(request_of(action).name, request_of(action).params).has_value());
    }
  CHECK(seen.size() == static_cast<std::size_t>(kLastKind) + 1);
}

TEST_CASE("a plan keeps its meaning when any action is taken out of it") {
  const Plan whole = draw_plan(21);
  for (std::size_t i = 0; i < whole.actions.size(); ++i) {
    Plan less = whole;
    less.actions.erase(less.actions.begin() + static_cast<std::ptrdiff_t>(i));
    const auto broken = run_plan(less, Plant::none, {}).broken;
    CHECK_MESSAGE(!broken, (broken ? broken->what : ""));
  }
}

TEST_CASE("every planted defect is found within the seeds that it states, and none without it") {
  for (const PlantedDefect& defect : planted_defects()) {
    CAPTURE(defect.name);
    CHECK(find_defect(defect.name) == &defect);
    const SweepResult found = run_sweep({1, defect.seeds_max, defect.plant, 1}, [](const auto&) {});
    CHECK(found.failed.has_value());
  }
  CHECK_FALSE(run_sweep({1, 20, Plant::none, 2}, [](const auto&) {}).failed.has_value());
  CHECK(find_defect("none") == nullptr);
}

TEST_CASE("a failing run is cut to what it needs and told with its command line") {
  const Plan whole = draw_plan(1);
  const Trial trial = run_trial(whole, Plant::publish_before_append, Tell::verdict);
  REQUIRE(trial.broken.has_value());
  const CutLimits limits;
  const Plan less = cut(whole, Plant::publish_before_append, trial.broken->invariant, limits);
  CHECK(less.actions.size() == 1);
  const std::string story = tell_story(1, Plant::publish_before_append, limits);
  CHECK(story.contains("seed 1 breaks: nothing is visible before it is stored"));
  CHECK(story.contains("./dev sim --seed 1 --trace --plant publish_before_append"));
  CHECK(story.contains("1 of its"));
  CHECK(story.contains("client "));
}

TEST_CASE("a runtime that stops itself ends its run and is reported with its last message") {
  const std::string story = tell_story(1, Plant::break_a_check, {});
  CHECK(story.contains("seed 1 breaks: the runtime does not stop itself"));
  CHECK(story.contains("a planted check holds"));
  CHECK(story.contains("client "));
}

TEST_CASE("cutting stops at its limits") {
  const Plan whole = draw_plan(1);
  const std::string invariant(invariant::kVisible);
  const CutLimits limits{.wall_ms_max = 20'000, .trials_max = 1};
  const Plan less = cut(whole, Plant::publish_before_append, invariant, limits);
  CHECK(less.actions.size() >= whole.actions.size() / 2);
  const CutLimits no_time{.wall_ms_max = -1, .trials_max = 100};
  CHECK(cut(whole, Plant::publish_before_append, invariant, no_time).actions == whole.actions);
}

}  // namespace agentrt::sim
