#include "store/blobs/holds.h"

namespace agentrt::store {

std::shared_ptr<const void> Holds::hold(const Digest& digest) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_[digest];
  }
  return {nullptr, [self = shared_from_this(), digest](const void*) { self->let_go(digest); }};
}

void Holds::let_go(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  const auto at = counts_.find(digest);
  if (--at->second == 0 && !sweeping_) counts_.erase(at);
}

void Holds::drop_unused() {
  std::erase_if(counts_, [](const auto& entry) { return entry.second == 0; });
}

void Holds::begin_sweep() {
  const std::lock_guard lock(mutex_);
  drop_unused();
  sweeping_ = true;
}

void Holds::end_sweep() {
  const std::lock_guard lock(mutex_);
  sweeping_ = false;
  drop_unused();
}

}  // namespace agentrt::store
