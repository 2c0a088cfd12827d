// base/clock_steps.h: computes the age of wall clock timestamps, although the wall clock may have
// been set since.
//
// Two clocks are compared: the wall clock, which provides timestamps, and the machine's uptime,
// which cannot be set. If they diverge by more than kClockDriftMs between two observations, the
// wall clock was set; that is called a step. The time between two steps is a segment. "Counted
// time" advances only with real time; each segment stores how far its timestamps are ahead of
// counted time.
//
// After a restart of the machine, the uptime does not tell how long it was off. If the wall clock
// advanced by at most kUnseenGapMaxMs, that is taken as the elapsed time, otherwise 0. A timestamp
// that lies in no known segment is treated as one from the newest step. So an age is never too
// large, but it may be too small.
//
// A value type; pure.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/time.h"

namespace agentrt {

// Drift between two observations; more is a step.
inline constexpr std::int64_t kClockDriftMs = 250;
inline constexpr std::int64_t kUnseenGapMaxMs = 24LL * 3'600 * 1'000;
inline constexpr std::size_t kClockSegmentsMax = 64;  // beyond this the two oldest are merged
inline constexpr Timestamp kEver{std::numeric_limits<std::int64_t>::min()};

struct ClockReading {
  Timestamp wall;
  std::int64_t uptime_ms = 0;
  std::string machine_boot;  // identifies the machine's boot; empty: unknown

  bool operator==(const ClockReading&) const = default;
};

class ClockSteps {
 public:
  struct Segment {
    std::int64_t ahead_ms = 0;  // lead of its timestamps over counted time, at least
    std::int64_t ended_ms = 0;  // in counted time
    Timestamp from, until;      // range of its timestamps

    bool operator==(const Segment&) const = default;
  };
  // The complete state. It is stored, and a later boot continues from it.
  struct State {
    ClockReading last;
    std::int64_t ahead_ms = 0;  // of the current segment
    Timestamp from;
    std::vector<Segment> past;  // oldest first

    bool operator==(const State&) const = default;
  };

  explicit ClockSteps(State state) : state_(std::move(state)) {}
  explicit ClockSteps(ClockReading first) : state_{std::move(first), 0, kEver, {}} {}

  // Adds a reading of both clocks. True: the wall clock was set since the last reading.
  bool observe(const ClockReading& now);

  // Milliseconds from the timestamp to the last reading; 0 for a timestamp in the future.
  std::int64_t age_ms(Timestamp stamp) const;
  // A limit: every timestamp before it is older than `ms`.
  Timestamp older_than(std::int64_t ms) const;

  const State& state() const { return state_; }

 private:
  std::int64_t counted_ms() const { return state_.last.wall.ms - state_.ahead_ms; }

  State state_;
};

}  // namespace agentrt
