// base/clock_steps.h: how long ago a stamp of the wall clock was, although that clock may have been
// set in the meantime.
//
// Two clocks are observed side by side: the wall clock, which stamps are taken from, and the uptime
// of the machine, which is never set. Where they differ by more than kClockDriftMs, the wall clock
// was set; that is a step. The stamps between two steps are a segment. Each segment remembers how
// far its stamps are ahead of the counted time, which only time that passed moves.
//
// When the machine was restarted, its uptime says nothing about the time in between. Then a wall
// clock that advanced by at most kUnseenGapMaxMs is believed; otherwise none of the gap counts. A
// stamp of a segment that was never observed counts from the next step that was. An age is
// therefore never too large, but it may be too small.
//
// A value; pure.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/time.h"

namespace agentrt {

inline constexpr std::int64_t kClockDriftMs = 250;  // between two observations; more is a step
inline constexpr std::int64_t kUnseenGapMaxMs = 24LL * 3'600 * 1'000;
inline constexpr std::size_t kClockSegmentsMax = 64;  // beyond it the two oldest become one
inline constexpr Timestamp kEver{std::numeric_limits<std::int64_t>::min()};

struct ClockReading {
  Timestamp wall;
  std::int64_t uptime_ms = 0;
  std::string machine_boot;  // the same for as long as the uptime goes on; empty: not known

  bool operator==(const ClockReading&) const = default;
};

class ClockSteps {
 public:
  struct Segment {
    std::int64_t ahead_ms = 0;  // of the counted time, at least
    std::int64_t ended_ms = 0;  // in counted time
    Timestamp from, until;      // its stamps

    bool operator==(const Segment&) const = default;
  };
  // All there is to it; what a later boot continues from.
  struct State {
    ClockReading last;
    std::int64_t ahead_ms = 0;  // of the present segment
    Timestamp from;
    std::vector<Segment> past;  // oldest first

    bool operator==(const State&) const = default;
  };

  explicit ClockSteps(State state) : state_(std::move(state)) {}
  explicit ClockSteps(ClockReading first) : state_{std::move(first), 0, kEver, {}} {}

  // Takes the next reading of both clocks. True: the wall clock was set since the last one.
  bool observe(const ClockReading& now);

  // Milliseconds from the stamp to the last observation; 0 for a stamp of the future.
  std::int64_t age_ms(Timestamp stamp) const;
  // Every stamp before this one is older than `ms`.
  Timestamp older_than(std::int64_t ms) const;

  const State& state() const { return state_; }

 private:
  std::int64_t counted_ms() const { return state_.last.wall.ms - state_.ahead_ms; }

  State state_;
};

}  // namespace agentrt
