// adapters/tools/until.h: tells whether a call must stop because it was cancelled or its deadline
// has passed. Checked between blocks and entries. Any thread.
#pragma once

#include <atomic>
#include <chrono>

namespace agentrt::adapters::tools {

inline constexpr std::chrono::milliseconds kCallTimeMax{10'000};

class Until {
 public:
  explicit Until(const std::atomic<bool>& cancelled, std::chrono::milliseconds most = kCallTimeMax)
      : cancelled_(cancelled), deadline_(std::chrono::steady_clock::now() + most) {}
  bool over() const {
    return cancelled_.load(std::memory_order_relaxed) ||
           std::chrono::steady_clock::now() >= deadline_;
  }

 private:
  const std::atomic<bool>& cancelled_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace agentrt::adapters::tools
