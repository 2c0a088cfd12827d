#include "channels/inbox.h"

namespace agentrt::channels {

void Inbox::post(Task task) {
  const std::scoped_lock lock(mutex_);
  if (!wake_) return;
  tasks_.push_back(std::move(task));
  // Call wake_ under the lock, so that close() cannot invalidate it in between.
  if (tasks_.size() == 1) wake_();
}

void Inbox::drain() {
  {
    const std::scoped_lock lock(mutex_);
    running_.swap(tasks_);
  }
  for (Task& task : running_) task();
  running_.clear();
}

void Inbox::close() {
  std::vector<Task> dropped;
  const std::scoped_lock lock(mutex_);
  wake_ = nullptr;
  dropped.swap(tasks_);
}

}  // namespace agentrt::channels
