// ports/loop.h: where the core runs, and what time it is there.
//
// The core (every lane's decide and fold, the engine's plan) runs on one Loop, so it needs no
// locks. In the daemon a Loop is a thread; under simulation it is a queue of steps in virtual time,
// chosen by a seed. Nothing below this header knows which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/time.h"

namespace agentrt::ports {

using Step = std::move_only_function<void()>;

class Loop {
 public:
  using TimerId = std::uint64_t;

  virtual ~Loop() = default;

  // Runs `step` on the core, after what was posted before it. Any thread may call this.
  virtual void post(Step step) = 0;
  // The wall clock, in whole milliseconds. Any thread.
  virtual Timestamp now() const = 0;
  // Milliseconds since a stamp that now() gave, in this boot or an earlier one, whatever the wall
  // clock was set to meanwhile; never negative. Durations and expiry are measured with this. Any
  // thread.
  virtual std::int64_t since(Timestamp stamp) const {
    return std::max<std::int64_t>(0, now() - stamp);
  }
  // Every stamp before this one is older than `ms`, by the same measure. Any thread.
  virtual Timestamp older_than(std::int64_t ms) const { return now() + -ms; }
  // Runs `step` on the core once `delay_ms` have passed on a clock that never goes back. Core only.
  virtual TimerId after(std::int64_t delay_ms, Step step) = 0;
  // Does nothing when the timer has fired. Core only.
  virtual void cancel(TimerId timer) = 0;
};

// Work that may block: disk, files. Tasks of one Worker start in order; whoever needs their outcome
// posts it to the Loop.
class Worker {
 public:
  virtual ~Worker() = default;
  // False when the worker's queue is full: nothing was taken. Any thread.
  [[nodiscard]] virtual bool run(Step task) = 0;
};

// Randomness for ids and tokens. Core only.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual std::uint64_t draw() = 0;
};

}  // namespace agentrt::ports
