// channels/inbox.h: the way onto the network thread for every other thread.
//
// Tasks posted before the network thread looks are run together after one wake-up. Once closed, an
// inbox drops what it is given; so a late reply from the core finds no server and does no harm. A
// task must therefore own nothing that has to die on the network thread: it carries values and weak
// references.
//
// post() and close(): any thread. drain(): the network thread.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace agentrt::channels {

class Inbox {
 public:
  using Task = std::move_only_function<void()>;

  // `wake` is called, by whoever posts, when the first task arrives after a drain.
  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void post(Task task);
  // Runs what was posted before the call; what a task posts waits for the next drain.
  void drain();
  void close();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  // under mutex_; empty once closed
  std::vector<Task> tasks_;     // under mutex_
  std::vector<Task> running_;   // network thread
};

}  // namespace agentrt::channels
