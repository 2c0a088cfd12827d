// base/snapshot.h: an immutable value that threads share and that can be replaced as a whole.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace agentrt {

// Readers keep the value they have loaded; a replacement is seen by later loads. Any thread.
template <class T>
class Snapshot {
 public:
  Snapshot() : value_(std::make_shared<const T>()) {}
  explicit Snapshot(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  Snapshot(const Snapshot& other) : value_(other.load()) {}
  Snapshot& operator=(const Snapshot& other) {
    auto value = other.load();
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    return *this;
  }

  std::shared_ptr<const T> load() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  // Replaces the value by change(old value). Changes of several threads follow one another.
  template <class Change>
  void update(Change change) {
    const std::lock_guard lock(mutex_);
    value_ = std::make_shared<const T>(change(*value_));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace agentrt
