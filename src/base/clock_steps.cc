#include "base/clock_steps.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace agentrt {
namespace {

std::int64_t elapsed_ms(const ClockReading& from, const ClockReading& to) {
  const bool same_uptime = !to.machine_boot.empty() && to.machine_boot == from.machine_boot &&
                           to.uptime_ms >= from.uptime_ms;
  if (same_uptime) return to.uptime_ms - from.uptime_ms;
  const std::int64_t gap = to.wall - from.wall;
  return gap >= 0 && gap <= kUnseenGapMaxMs ? gap : 0;
}

}  // namespace

bool ClockSteps::observe(const ClockReading& now) {
  const std::int64_t elapsed = elapsed_ms(state_.last, now);
  const std::int64_t counted = counted_ms() + elapsed;
  const std::int64_t ahead = now.wall.ms - counted;
  const bool stepped = std::abs(ahead - state_.ahead_ms) > kClockDriftMs;
  if (stepped) {
    state_.past.push_back({state_.ahead_ms, counted, state_.from, {counted + state_.ahead_ms}});
    state_.ahead_ms = ahead;
    state_.from = now.wall + -elapsed;
    if (state_.past.size() > kClockSegmentsMax) {
      const Segment& first = state_.past.front();
      Segment& second = state_.past[1];
      second.ahead_ms = std::min(second.ahead_ms, first.ahead_ms);
      second.from = std::min(second.from, first.from);
      second.until = std::max(second.until, first.until);
      state_.past.erase(state_.past.begin());
    }
  }
  state_.last = now;
  return stepped;
}

// A timestamp may fit several segments; the smallest age counts.
std::int64_t ClockSteps::age_ms(Timestamp stamp) const {
  const std::int64_t now = counted_ms();
  std::optional<std::int64_t> age;
  const auto consider = [&](const Segment& segment) {
    if (stamp < segment.from || stamp > segment.until) return;
    const std::int64_t of_segment = now - (stamp.ms - segment.ahead_ms);
    age = std::min(age.value_or(of_segment), of_segment);
  };
  for (const Segment& segment : state_.past) consider(segment);
  consider({state_.ahead_ms, now, state_.from, state_.last.wall});
  const bool unseen = !age && !state_.past.empty() && stamp <= state_.last.wall;
  if (unseen) age = now - state_.past.back().ended_ms;
  return std::max<std::int64_t>(0, age.value_or(0));
}

Timestamp ClockSteps::older_than(std::int64_t ms) const {
  const std::int64_t limit = counted_ms() - ms;
  std::int64_t before = limit + state_.ahead_ms;
  for (const Segment& segment : state_.past)
    if (segment.ended_ms >= limit) before = std::min(before, limit + segment.ahead_ms);
  return {before};
}

}  // namespace agentrt
