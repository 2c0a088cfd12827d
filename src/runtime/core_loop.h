// runtime/core_loop.h: the thread of the core, and the threads for blocking work.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "ports/loop.h"
#include "ports/metrics.h"
#include "runtime/system_clock.h"

namespace agentrt::runtime {

// Runs posted steps one after the other on its own thread, and counts those that take longer than
// ports::kCoreStepLimitUs.
class CoreLoop final : public ports::Loop {
 public:
  // `clock` must outlive the loop; null: the wall clock is trusted.
  explicit CoreLoop(ports::Metrics& metrics, const SystemClock* clock = nullptr)
      : metrics_(metrics), clock_(clock) {}
  ~CoreLoop() override { stop(); }

  void start();
  // Runs no further step; pending steps are dropped.
  void stop();

  void post(ports::Step step) override;
  Timestamp now() const override { return SystemClock::now(); }
  std::int64_t since(Timestamp stamp) const override {
    return clock_ ? clock_->since(stamp) : Loop::since(stamp);
  }
  Timestamp older_than(std::int64_t ms) const override {
    return clock_ ? clock_->older_than(ms) : Loop::older_than(ms);
  }
  TimerId after(std::int64_t delay_ms, ports::Step step) override;
  void cancel(TimerId timer) override;

 private:
  using Clock = std::chrono::steady_clock;
  using Timers = std::multimap<Clock::time_point, std::pair<TimerId, ports::Step>>;

  void run();
  void run_step(ports::Step& step);
  void run_due_timers();

  ports::Metrics& metrics_;
  const SystemClock* const clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<ports::Step> posted_;  // under mutex_
  bool stopping_ = false;            // under mutex_
  Timers timers_;                    // core only, as are the members below
  std::unordered_map<TimerId, Timers::iterator> timer_of_;
  TimerId last_timer_ = 0;
  std::thread thread_;
};

enum class ThreadStart { at_once, when_needed };

// A bounded queue of blocking tasks and the threads that run them. With one thread, tasks run in
// order.
class ThreadWorker final : public ports::Worker {
 public:
  // `name`: the thread name for the system, at most 15 characters. `start`: whether the threads
  // start now or with the first task.
  ThreadWorker(const char* name, std::size_t threads, std::size_t queue_max,
               ThreadStart start = ThreadStart::at_once);
  ~ThreadWorker() override { stop(); }

  [[nodiscard]] bool run(ports::Step task) override;
  // Finishes running tasks, drops queued ones, and joins the threads.
  void stop();

 private:
  void work();
  void start_threads();  // once

  const char* const name_;
  const std::size_t threads_max_;
  const std::size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<ports::Step> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// Random numbers from the operating system.
class SystemEntropy final : public ports::Entropy {
 public:
  std::uint64_t draw() override;

 private:
  static constexpr std::size_t kBuffered = 64;
  std::array<std::uint64_t, kBuffered> buffer_{};
  std::size_t left_ = 0;
};

}  // namespace agentrt::runtime
