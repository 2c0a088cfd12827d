// channels/reply_budget.h: counts the bytes of all pending replies.
//
// A reply stays in memory until its peer has read it, which may take long. If there is no room,
// replies to reads are refused as `overloaded`; a reply to a mutating command is always kept. Any
// thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/result.h"

namespace agentrt::channels {

class ReplyBudget {
 public:
  explicit ReplyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Whether that many bytes fit. Always true if nothing is held.
  bool has_room(std::size_t bytes) const {
    const std::size_t now = held();
    return now == 0 || now + bytes <= bytes_max_;
  }
  std::size_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  friend class HeldReply;
  const std::size_t bytes_max_;
  std::atomic<std::size_t> held_{0};
};

// The bytes of one reply; its destructor releases them.
class HeldReply {
 public:
  HeldReply() = default;
  HeldReply(std::shared_ptr<ReplyBudget> budget, std::size_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {
    budget_->held_ += bytes_;
  }
  HeldReply(HeldReply&& other) noexcept { *this = std::move(other); }
  HeldReply& operator=(HeldReply&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldReply() {
    if (budget_) budget_->held_ -= bytes_;
  }

 private:
  std::shared_ptr<ReplyBudget> budget_;
  std::size_t bytes_ = 0;
};

// The error for a reply without room.
inline Error no_room_for_reply() {
  return {Code::overloaded, "too many large replies are waiting to be read; try again", {}};
}

}  // namespace agentrt::channels
