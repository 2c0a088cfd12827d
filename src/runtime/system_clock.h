// runtime/system_clock.h: the machine's clocks, and what the wall clock did over all boots.
//
// The wall clock may be set at any time; the uptime of the machine is not. Both are compared
// whenever somebody asks (base/clock_steps.h), and the result is kept in DATA/clock.json, so that
// the next boot of the runtime sees a clock that was set between the two. Any thread.
#pragma once

#include <mutex>
#include <string>

#include "base/clock_steps.h"

namespace agentrt::runtime {

inline constexpr std::int64_t kClockLookEveryMs = 5'000;
inline constexpr std::int64_t kClockSaveEveryMs = 60'000;  // at once when the clock was set

class SystemClock {
 public:
  // A file that is absent or cannot be read is the first boot: the wall clock is believed.
  explicit SystemClock(std::string path);

  static Timestamp now();
  // As in ports::Loop.
  std::int64_t since(Timestamp stamp) const;
  Timestamp older_than(std::int64_t ms) const;

  // Looks whether the clock was set. True: there is something to save.
  bool look() const;
  // Keeps what was observed. Blocks. A disk that takes nothing costs the next boot only what it
  // does not know.
  void save() const;

 private:
  ClockReading read() const;
  void observe() const;  // under mutex_

  const std::string path_;
  const std::string machine_boot_;
  const std::int64_t uptime_ahead_ms_;  // /proc/uptime at the start, minus this process's clock
  mutable std::mutex mutex_;
  mutable ClockSteps steps_;  // under mutex_, as are those below
  mutable bool set_ = true;   // since it was saved
  mutable std::int64_t saved_ms_ = 0;
};

}  // namespace agentrt::runtime
