// store/sqlite/sync_guard.h: what happens when a sync fails, in one place.
//
// After a failed sync the kernel may have dropped the very pages it could not write and report the
// next sync as fine. So nothing is retried: the owner is told, which ends the process, and a guard
// that has been told refuses every later write. Any thread.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "base/check.h"
#include "store/store.h"

namespace agentrt::store {

class SyncGuard {
 public:
  explicit SyncGuard(OnSyncFailure on_failure) : on_failure_(std::move(on_failure)) {}

  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

  // Does not return in production. `what` names the call that failed.
  void fail(const std::string& what) {
    if (stopped_.exchange(true)) return;
    if (!on_failure_) stop(what);
    on_failure_(what);
  }

  static Error error() {
    return {Code::unavailable,
            "the disk did not confirm a write, so the store accepts no more; restart the program",
            {}};
  }

 private:
  OnSyncFailure on_failure_;
  std::atomic<bool> stopped_{false};
};

}  // namespace agentrt::store
