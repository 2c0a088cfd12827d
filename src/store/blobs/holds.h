// store/blobs/holds.h: which blobs may not be removed yet. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "base/digest.h"

namespace agentrt::store {

class Holds : public std::enable_shared_from_this<Holds> {
 public:
  // Held until the last copy of what is returned goes.
  std::shared_ptr<const void> hold(const Digest& digest);

  void begin_sweep();
  void end_sweep();
  // Runs `act` while nobody can take hold, unless somebody has or had hold since begin_sweep().
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
  std::map<Digest, std::size_t> counts_;  // 0: let go of since begin_sweep()
  bool sweeping_ = false;
};

}  // namespace agentrt::store
