#include "store/sqlite/reader_pool.h"

namespace agentrt::store {

Result<ReaderPool::Lease> ReaderPool::take() {
  {
    std::unique_lock lock(mutex_);
    const bool free = returned_.wait_for(lock, wait_max_,
                                         [&] { return !idle_.empty() || opened_ < readers_max_; });
    if (!free)
      return fail(Code::overloaded, "every read connection of the store is busy; try again");
    if (!idle_.empty()) {
      std::unique_ptr<Member> member = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(member));
    }
    ++opened_;
  }
  auto connection = open_();
  if (!connection) {
    const std::lock_guard lock(mutex_);
    --opened_;
    returned_.notify_one();
    return std::unexpected(std::move(connection).error());
  }
  return Lease(*this, std::make_unique<Member>(std::move(*connection)));
}

void ReaderPool::give_back(std::unique_ptr<Member> member) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(member));
  returned_.notify_one();
}

}  // namespace agentrt::store
