// sim/virtual_time.h: the core, its workers and its clocks on one thread under virtual time.
//
// Every step is chosen by a seed from what could run next: the next posted step of the core, the
// next task of one of the workers, or the next timer once nothing else is left. So a whole runtime
// runs in one thread, the same way for the same seed, and can be stopped between any two steps.
//
// There are two clocks, as outside: the one that timers run on never goes back, and the wall clock,
// which facts are stamped with, may be set to anything at any time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock_steps.h"
#include "ports/loop.h"

namespace agentrt::sim {

// splitmix64; a value.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // True once in `in` draws.
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
  // The next `count` tasks find the worker full.
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

// Owns the clocks and the order. A boot's loop and workers are made by begin() and gone with the
// next one: a crash loses what they held, and time goes on.
class VirtualTime {
 public:
  explicit VirtualTime(std::uint64_t seed) : random_(seed) {}

  struct Boot {
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<VirtualWorker> readers;
    std::unique_ptr<VirtualWorker> writer;
  };
  Boot begin();

  // Runs one step; false when nothing is left to do, timers included.
  bool step(Boot& boot);
  // Runs one step unless the next would be after `until_ms`; then it is that late, and false.
  bool step_until(Boot& boot, std::int64_t until_ms);
  // At most `steps_max` steps; how many ran.
  std::size_t run(Boot& boot, std::size_t steps_max);

  // Nothing of the worker runs for so long: a slow disk.
  void hold(VirtualWorker& worker, std::int64_t ms) { worker.held_until_ms_ = monotonic_ms_ + ms; }
  void release(VirtualWorker& worker) { worker.held_until_ms_ = 0; }
  // Sets the wall clock forward or back.
  void jump(std::int64_t ms) { wall_offset_ms_ += ms; }
  // Lets time pass while nothing runs.
  void pass(std::int64_t ms) { monotonic_ms_ += ms; }

  Timestamp now() const { return {monotonic_ms_ + wall_offset_ms_}; }
  std::int64_t monotonic_ms() const { return monotonic_ms_; }
  // What a runtime of any boot knows of its wall clock.
  const ClockSteps& clock() {
    clock_.observe(reading());
    return clock_;
  }

 private:
  friend class VirtualLoop;

  bool run_ready(Boot& boot);
  // When the next timer fires or the next held task may run; nothing: never.
  std::optional<std::int64_t> next_due(const Boot& boot) const;
  void reach(Boot& boot, std::int64_t at_ms);

  ClockReading reading() const { return {now(), monotonic_ms_, "machine"}; }

  Random random_;
  std::int64_t monotonic_ms_ = 1'790'000'000'000;
  std::int64_t wall_offset_ms_ = 0;
  ClockSteps clock_{reading()};
};

}  // namespace agentrt::sim
