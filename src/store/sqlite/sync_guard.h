// store/sqlite/sync_guard.h: handles failed syncs, in one place.
//
// After a failed sync, the kernel may have dropped the very pages it could not write, and report
// success for the next sync. Syncs are therefore never retried: the guard notifies its owner, which
// ends the process, and rejects every later write. Callable from any thread.
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

  // Does not return in production. `what` names the failed call.
  void fail(const std::string& what) {
    if (stopped_.exchange(true)) return;
    if (!on_failure_) stop(what);
    on_failure_(what);
  }

  static Error error() {
    return {
        Code::unavailable,
        "the disk did not confirm a write, so the store accepts no more writes; restart agentrt",
        {}};
  }

 private:
  OnSyncFailure on_failure_;
  std::atomic<bool> stopped_{false};
};

}  // namespace agentrt::store
