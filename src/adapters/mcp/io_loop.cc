#include "adapters/mcp/io_loop.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/check.h"

namespace agentrt::adapters {
namespace {

constexpr int kWaitMaxMs = 60'000;

}  // namespace

IoLoop::IoLoop(const char* thread_name) : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(static_cast<bool>(wake_), "a loop needs a descriptor to be woken by");
  thread_ = std::thread([this, thread_name] {
    ::pthread_setname_np(::pthread_self(), thread_name);
    sigset_t broken_pipe;  // SIGPIPE is blocked; write() fails with EPIPE instead
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    run();
  });
}

void IoLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
  if (thread_.joinable()) thread_.join();
}

void IoLoop::post(ports::Step step) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    posted_.push_back(std::move(step));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

Timestamp IoLoop::now() const {
  using std::chrono::duration_cast, std::chrono::milliseconds;
  const auto passed = duration_cast<milliseconds>(Clock::now() - began_);
  return {duration_cast<milliseconds>(began_at_.time_since_epoch()).count() + passed.count()};
}

IoLoop::TimerId IoLoop::after(std::int64_t delay_ms, ports::Step step) {
  const TimerId id = ++last_timer_;
  const auto due = Clock::now() + std::chrono::milliseconds(delay_ms);
  timers_.emplace(std::pair{due, id}, std::move(step));
  due_of_.emplace(id, due);
  return id;
}

void IoLoop::cancel(TimerId timer) {
  const auto found = due_of_.find(timer);
  if (found == due_of_.end()) return;
  timers_.erase({found->second, timer});
  due_of_.erase(found);
}

void IoLoop::watch(int fd, short events, Ready ready) {
  watches_[{fd, events}] = std::make_shared<Watch>(std::move(ready));
}

void IoLoop::unwatch(int fd, short events) { watches_.erase({fd, events}); }

int IoLoop::until_next_ms() const {
  if (timers_.empty()) return kWaitMaxMs;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kWaitMaxMs));
}

void IoLoop::run_due_timers() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto first = timers_.extract(timers_.begin());
    due_of_.erase(first.key().second);
    first.mapped()();
  }
}

// A watch may remove itself and others while it runs.
void IoLoop::run_ready() {
  std::vector<pollfd> waits{{wake_.get(), POLLIN, 0}};
  std::vector<std::weak_ptr<Watch>> watches{{}};
  for (const auto& [key, watch] : watches_) {
    waits.push_back({key.first, key.second, 0});
    watches.push_back(watch);
  }
  if (::poll(waits.data(), waits.size(), until_next_ms()) <= 0) return;
  std::uint64_t count = 0;
  if (waits[0].revents != 0) (void)!::read(wake_.get(), &count, sizeof(count));
  for (std::size_t i = 1; i < waits.size(); ++i)
    if (waits[i].revents != 0)
      if (const auto watch = watches[i].lock()) watch->ready();
}

void IoLoop::run() {
  for (;;) {
    std::vector<ports::Step> steps;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      steps.swap(posted_);
    }
    for (ports::Step& step : steps) step();
    run_due_timers();
    run_ready();
  }
}

}  // namespace agentrt::adapters
