// ports/testing/fake_loop.h: a loop in virtual time, with a worker that runs its tasks as steps.
#pragma once

#include <map>
#include <utility>

#include "ports/loop.h"

namespace agentrt::ports {

// Runs steps by due time, then in the order posted. Worker tasks run as steps.
class FakeLoop final : public Loop {
 public:
  struct FakeWorker final : Worker {
    explicit FakeWorker(FakeLoop& owner) : loop(owner) {}
    bool run(Step task) override {
      if (!full) loop.post(std::move(task));
      return !full;
    }
    FakeLoop& loop;
    bool full = false;
  };

  void post(Step step) override { steps_.emplace(std::pair{now_ms_, ++last_}, std::move(step)); }
  Timestamp now() const override { return {now_ms_}; }
  TimerId after(std::int64_t delay_ms, Step step) override {
    steps_.emplace(std::pair{now_ms_ + delay_ms, ++last_}, std::move(step));
    return last_;
  }
  void cancel(TimerId timer) override {
    std::erase_if(steps_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  FakeWorker& worker() { return worker_; }

  void run() {
    while (!steps_.empty()) run_first();
  }
  void run_for(std::int64_t ms) {
    const std::int64_t end = now_ms_ + ms;
    while (!steps_.empty() && steps_.begin()->first.first <= end) run_first();
    now_ms_ = end;
  }

 private:
  void run_first() {
    auto first = steps_.extract(steps_.begin());
    now_ms_ = first.key().first;
    first.mapped()();
  }

  std::int64_t now_ms_ = 0;
  TimerId last_ = 0;
  std::map<std::pair<std::int64_t, TimerId>, Step> steps_;
  FakeWorker worker_{*this};
};

}  // namespace agentrt::ports
