// runtime/system_clock.h: the machine's clocks, and the history of the wall clock over all boots.
//
// The wall clock may be set at any time; the machine's uptime cannot. Every query compares both
// (base/clock_steps.h). The result is stored in DATA/clock.json, so that the next boot detects a
// clock that was set in between. Any thread.
#pragma once

#include <mutex>
#include <string>

#include "base/clock_steps.h"

namespace agentrt::runtime {

inline constexpr std::int64_t kClockLookEveryMs = 5'000;
inline constexpr std::int64_t kClockSaveEveryMs = 60'000;  // and at once when the clock was set

class SystemClock {
 public:
  // If the file is missing or unreadable, this counts as the first boot, and the wall clock is
  // trusted.
  explicit SystemClock(std::string path);

  static Timestamp now();
  // See ports::Loop.
  std::int64_t since(Timestamp stamp) const;
  Timestamp older_than(std::int64_t ms) const;

  // Checks whether the clock was set. True: save() is due.
  bool look() const;
  // Stores the observations. Blocks. If that fails, the next boot only lacks the latest ones.
  void save() const;

 private:
  ClockReading read() const;
  void observe() const;  // under mutex_

  const std::string path_;
  const std::string machine_boot_;
  const std::int64_t uptime_ahead_ms_;  // /proc/uptime at the start, minus this process's clock
  mutable std::mutex mutex_;
  mutable ClockSteps steps_;  // under mutex_, as are those below
  mutable bool set_ = true;   // since the last save
  mutable std::int64_t saved_ms_ = 0;
};

}  // namespace agentrt::runtime
