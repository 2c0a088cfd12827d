// adapters/mcp/io_loop.h: an event loop on its own thread that also watches file descriptors.
//
// Threads: post() and stop() on any thread; everything else on the loop's thread, where all steps,
// timers and watches run. Steps posted after stop() are dropped.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "ports/loop.h"

namespace agentrt::adapters {

class IoLoop final : public ports::Loop {
 public:
  using Ready = std::move_only_function<void()>;

  explicit IoLoop(const char* thread_name);
  ~IoLoop() override { stop(); }
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  void stop();

  void post(ports::Step step) override;
  // The wall clock at the loop's start plus the monotonic time since, so that setting the clock
  // does not move deadlines.
  Timestamp now() const override;
  TimerId after(std::int64_t delay_ms, ports::Step step) override;
  void cancel(TimerId timer) override;

  // Calls `ready` whenever one of `events` (POLLIN, POLLOUT) is ready or the peer has closed.
  // Replaces an earlier watch of the same descriptor and events.
  void watch(int fd, short events, Ready ready);
  void unwatch(int fd, short events);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watch {
    Ready ready;
  };

  void run();
  void run_due_timers();
  void run_ready();
  int until_next_ms() const;

  const Clock::time_point began_ = Clock::now();
  const std::chrono::system_clock::time_point began_at_ = std::chrono::system_clock::now();
  Descriptor wake_;
  std::mutex mutex_;
  std::vector<ports::Step> posted_;  // under mutex_
  bool stopping_ = false;            // under mutex_
  std::map<std::pair<int, short>, std::shared_ptr<Watch>> watches_;
  std::map<std::pair<Clock::time_point, TimerId>, ports::Step> timers_;
  std::map<TimerId, Clock::time_point> due_of_;
  TimerId last_timer_ = 0;
  std::thread thread_;  // the last member, because it uses the others
};

}  // namespace agentrt::adapters
