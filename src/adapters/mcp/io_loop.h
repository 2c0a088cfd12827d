// adapters/mcp/io_loop.h: a loop on a thread of its own that also waits for descriptors.
//
// Thread rule: post() and stop() on any thread; all else on the loop's own, where every step, timer
// and watch runs. What is posted after stop() is dropped.
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
  // The wall clock as it was when the loop began, and the time since: whoever sets the clock moves
  // no deadline here.
  Timestamp now() const override;
  TimerId after(std::int64_t delay_ms, ports::Step step) override;
  void cancel(TimerId timer) override;

  // Calls `ready` whenever one of `events` (POLLIN, POLLOUT) holds or the other end has gone; in
  // place of an earlier watch of the same descriptor and events.
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
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace agentrt::adapters
