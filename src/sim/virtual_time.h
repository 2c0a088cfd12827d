// sim/virtual_time.h: runs the core, its workers and its clocks on one thread in virtual time.
//
// A seeded random choice picks every step from those that could run next: the next posted step of
// the core, the next task of a worker, or, if there is none, the next timer. So a whole runtime
// runs on one thread, reproducibly for a given seed, and can be stopped between any two steps.
//
// There are two clocks: the monotonic clock, which drives timers, and the wall clock, which
// timestamps facts and may be set to any value at any time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock_steps.h"
#include "ports/loop.h"

namespace agentrt::sim {

// The splitmix64 generator; copyable.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // True with probability 1 / `in`.
  bool one_in(std::uint64_t in) { return below(in) == 0; }

 private:
  std::uint64_t seed_;
};

class VirtualTime;

class VirtualLoop final : public ports::Loop {
 public:
  explicit VirtualLoop(VirtualTime& time) : time_(time) {}
  void post(ports::Step step) override { steps_.push_back(std::move(step)); }
  Timestamp now() const override;
  std::int64_t since(Timestamp stamp) const override;
  Timestamp older_than(std::int64_t ms) const override;
  TimerId after(std::int64_t delay_ms, ports::Step step) override;
  void cancel(TimerId timer) override;

 private:
  friend class VirtualTime;
  VirtualTime& time_;
  std::deque<ports::Step> steps_;
  std::map<std::pair<std::int64_t, TimerId>, ports::Step> timers_;
  std::map<TimerId, std::int64_t> due_;
  TimerId last_ = 0;
};

class VirtualWorker final : public ports::Worker {
 public:
  [[nodiscard]] bool run(ports::Step task) override {
    if (refusals_ > 0) {
      --refusals_;
      return false;
    }
    tasks_.push_back(std::move(task));
    return true;
  }
  // The worker refuses the next `count` tasks as if it were full.
  void refuse(std::size_t count) { refusals_ = count; }

 private:
  friend class VirtualTime;
  std::deque<ports::Step> tasks_;
  std::size_t refusals_ = 0;
  std::int64_t held_until_ms_ = 0;
};

class SeededEntropy final : public ports::Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : random_(seed) {}
  std::uint64_t draw() override { return random_.next(); }

 private:
  Random random_;
};

// Owns the clocks and the random choice. begin() creates the loop and workers of a boot. A crash
// destroys them with all their steps; time continues.
class VirtualTime {
 public:
  explicit VirtualTime(std::uint64_t seed) : random_(seed) {}

  struct Boot {
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<VirtualWorker> readers;
    std::unique_ptr<VirtualWorker> writer;
  };
  Boot begin();

  // Runs one step. False: nothing is left to do, not even a timer.
  bool step(Boot& boot);
  // Runs one step if it is due by `until_ms`. Otherwise advances the clock to `until_ms` and
  // returns false.
  bool step_until(Boot& boot, std::int64_t until_ms);
  // Runs at most `steps_max` steps and returns the number.
  std::size_t run(Boot& boot, std::size_t steps_max);

  // Delays all tasks of the worker, like a slow disk.
  void hold(VirtualWorker& worker, std::int64_t ms) { worker.held_until_ms_ = monotonic_ms_ + ms; }
  void release(VirtualWorker& worker) { worker.held_until_ms_ = 0; }
  // Sets the wall clock forward or back.
  void jump(std::int64_t ms) { wall_offset_ms_ += ms; }
  // Advances time without running anything.
  void pass(std::int64_t ms) { monotonic_ms_ += ms; }

  Timestamp now() const { return {monotonic_ms_ + wall_offset_ms_}; }
  std::int64_t monotonic_ms() const { return monotonic_ms_; }
  // What a runtime knows about its wall clock, over all boots.
  const ClockSteps& clock() {
    clock_.observe(reading());
    return clock_;
  }

 private:
  friend class VirtualLoop;

  bool run_ready(Boot& boot);
  // When the next timer fires or the next held task may run; nullopt: never.
  std::optional<std::int64_t> next_due(const Boot& boot) const;
  void reach(Boot& boot, std::int64_t at_ms);

  ClockReading reading() const { return {now(), monotonic_ms_, "machine"}; }

  Random random_;
  std::int64_t monotonic_ms_ = 1'790'000'000'000;
  std::int64_t wall_offset_ms_ = 0;
  ClockSteps clock_{reading()};
};

}  // namespace agentrt::sim
