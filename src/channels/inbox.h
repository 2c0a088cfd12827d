// channels/inbox.h: the queue through which other threads run tasks on the network thread.
//
// Tasks posted before the network thread drains the inbox are run together after one wake-up. A
// closed inbox drops its tasks, so a late reply from the core is harmless. A dropped task may be
// destroyed on any thread. A task must therefore not own objects that have to be destroyed on the
// network thread: capture values and weak references.
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

  // `wake` is called on the posting thread when the first task after a drain arrives.
  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void post(Task task);
  // Runs the tasks posted before the call; tasks that they post wait for the next drain.
  void drain();
  void close();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  // under mutex_; empty once closed
  std::vector<Task> tasks_;     // under mutex_
  std::vector<Task> running_;   // network thread
};

}  // namespace agentrt::channels
