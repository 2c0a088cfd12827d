// sim/virtual_time.h: the core, its workers and its clock on one thread under virtual time.
//
// Every step is chosen by a seed from what could run next: the next posted step of the core, the
// next task of one of the workers, or the next timer once nothing else is left. So a whole runtime
// runs in one thread, the same way for the same seed, and can be stopped between any two steps.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "ports/loop.h"

namespace agentrt::sim {

// splitmix64; a value.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t seed_;
};

class VirtualTime;

class VirtualLoop final : public ports::Loop {
 public:
  explicit VirtualLoop(VirtualTime& time) : time_(time) {}
  void post(ports::Step step) override { steps_.push_back(std::move(step)); }
  Timestamp now() const override;
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
    tasks_.push_back(std::move(task));
    return true;
  }

 private:
  friend class VirtualTime;
  std::deque<ports::Step> tasks_;
};

class SeededEntropy final : public ports::Entropy {
 public:
  explicit SeededEntropy(std::uint64_t seed) : random_(seed) {}
  std::uint64_t draw() override { return random_.next(); }

 private:
  Random random_;
};

// Owns the clock and the order. A boot's loop and workers are made by begin() and gone with the
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
  // At most `steps_max` steps; how many ran.
  std::size_t run(Boot& boot, std::size_t steps_max);

  Timestamp now() const { return {now_ms_}; }

 private:
  bool fire_next_timer(VirtualLoop& loop);

  Random random_;
  std::int64_t now_ms_ = 1'790'000'000'000;
};

}  // namespace agentrt::sim
