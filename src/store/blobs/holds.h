// store/blobs/holds.h: tracks which blobs must not be removed yet. Callable from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "base/digest.h"

namespace agentrt::store {

class Holds : public std::enable_shared_from_this<Holds> {
 public:
  // Holds the blob until the last copy of the returned pointer is destroyed.
  std::shared_ptr<const void> hold(const Digest& digest);

  void begin_sweep();
  void end_sweep();
  // Runs `act` under the lock and returns true, unless the blob is held or, during a sweep, was
  // held since begin_sweep().
  template <class Act>
  bool if_free(const Digest& digest, Act act) {
    const std::lock_guard lock(mutex_);
    if (counts_.contains(digest)) return false;
    act();
    return true;
  }

 private:
  void let_go(const Digest& digest);
  void drop_unused();

  std::mutex mutex_;
  std::map<Digest, std::size_t> counts_;  // 0: released since begin_sweep()
  bool sweeping_ = false;
};

}  // namespace agentrt::store
