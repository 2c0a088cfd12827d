#include "runtime/core_loop.h"

#include <pthread.h>
#include <sys/random.h>
#include <time.h>

#include "base/check.h"

namespace agentrt::runtime {
namespace {

// Processor time of the calling thread.
std::uint64_t own_cpu_us() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(used.tv_nsec) / 1'000;
}

}  // namespace

void CoreLoop::start() {
  thread_ = std::thread([this] { run(); });
}

void CoreLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CoreLoop::post(ports::Step step) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    first = posted_.empty();
    posted_.push_back(std::move(step));
  }
  if (first) wake_.notify_one();
}

ports::Loop::TimerId CoreLoop::after(std::int64_t delay_ms, ports::Step step) {
  const TimerId id = ++last_timer_;
  const auto due = Clock::now() + std::chrono::milliseconds(delay_ms);
  timer_of_[id] = timers_.emplace(due, std::pair(id, std::move(step)));
  return id;
}

void CoreLoop::cancel(TimerId timer) {
  const auto found = timer_of_.find(timer);
  if (found == timer_of_.end()) return;
  timers_.erase(found->second);
  timer_of_.erase(found);
}

void CoreLoop::run_step(ports::Step& step) {
  const auto before = Clock::now();
  const std::uint64_t cpu_before = own_cpu_us();
  step();
  const std::uint64_t cpu_us = own_cpu_us() - cpu_before;
  if (cpu_us > metrics_.core_step_cpu_us_max) metrics_.core_step_cpu_us_max = cpu_us;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - before);
  const auto us = static_cast<std::uint64_t>(took.count());
  ++metrics_.core_steps;
  if (us > ports::kCoreStepLimitUs) ++metrics_.core_steps_over_limit;
  if (us > metrics_.core_step_us_max) metrics_.core_step_us_max = us;
}

void CoreLoop::run_due_timers() {
  while (!timers_.empty() && timers_.begin()->first <= Clock::now()) {
    auto node = timers_.extract(timers_.begin());
    timer_of_.erase(node.mapped().first);
    run_step(node.mapped().second);
  }
}

void CoreLoop::run() {
  ::pthread_setname_np(::pthread_self(), "agentrt-core");
  std::vector<ports::Step> steps;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto ready = [&] { return stopping_ || !posted_.empty(); };
      if (timers_.empty())
        wake_.wait(lock, ready);
      else
        wake_.wait_until(lock, timers_.begin()->first, ready);
      if (stopping_) return;
      steps.swap(posted_);
    }
    for (ports::Step& step : steps) run_step(step);
    steps.clear();
    run_due_timers();
  }
}

ThreadWorker::ThreadWorker(const char* name, std::size_t threads, std::size_t queue_max,
                           ThreadStart start)
    : name_(name), threads_max_(threads), queue_max_(queue_max) {
  if (start == ThreadStart::at_once) start_threads();
}

void ThreadWorker::start_threads() {
  while (threads_.size() < threads_max_) threads_.emplace_back([this] { work(); });
}

bool ThreadWorker::run(ports::Step task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || tasks_.size() >= queue_max_) return false;
    tasks_.push_back(std::move(task));
    start_threads();
  }
  wake_.notify_one();
  return true;
}

void ThreadWorker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadWorker::work() {
  ::pthread_setname_np(::pthread_self(), name_);
  for (;;) {
    ports::Step task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

std::uint64_t SystemEntropy::draw() {
  if (left_ == 0) {
    const auto got = ::getrandom(buffer_.data(), sizeof buffer_, 0);
    check(got == static_cast<ssize_t>(sizeof buffer_), "the kernel gives randomness");
    left_ = kBuffered;
  }
  return buffer_[--left_];
}

}  // namespace agentrt::runtime
