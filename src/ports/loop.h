// ports/loop.h: the event loop of the core, and its clock.
//
// The core (decide and fold of every lane, the engine's plan) runs on one Loop, so it needs no
// locks. In the daemon a Loop is a thread. In the simulation it is a queue of steps in virtual
// time, ordered by a seed. Users of this interface cannot tell the difference.
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

  // Runs `step` on the core, after all steps posted before. Any thread.
  virtual void post(Step step) = 0;
  // The wall clock, in whole milliseconds. Any thread.
  virtual Timestamp now() const = 0;
  // Milliseconds since a timestamp of now(), from this boot or an earlier one. Independent of
  // changes to the wall clock; never negative. Use it for durations and expiry. Any thread.
  virtual std::int64_t since(Timestamp stamp) const {
    return std::max<std::int64_t>(0, now() - stamp);
  }
  // A limit: every timestamp before it is older than `ms`, measured like since(). Any thread.
  virtual Timestamp older_than(std::int64_t ms) const { return now() + -ms; }
  // Runs `step` on the core after `delay_ms` on the monotonic clock. Core only.
  virtual TimerId after(std::int64_t delay_ms, Step step) = 0;
  // Does nothing if the timer has already fired. Core only.
  virtual void cancel(TimerId timer) = 0;
};

// Runs work that may block, such as disk access. Tasks of one Worker start in order. A task posts
// its result to the Loop.
class Worker {
 public:
  virtual ~Worker() = default;
  // False: the queue is full, and the task was not accepted. Any thread.
  [[nodiscard]] virtual bool run(Step task) = 0;
};

// Randomness for ids and tokens. Core only.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual std::uint64_t draw() = 0;
};

}  // namespace agentrt::ports
