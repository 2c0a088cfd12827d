// channels/protocols/ticker.h: calls objects again and again, at most a quarter of a second apart,
// for their time limits. Network thread only.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "channels/limits.h"

namespace agentrt::channels {

class Ticked {
 public:
  virtual void tick(Instant now) = 0;

 protected:
  ~Ticked() = default;
};

class Ticker {
 public:
  // Until it is destroyed.
  void add(std::weak_ptr<Ticked> ticked) { all_.push_back(std::move(ticked)); }
  bool empty() const { return all_.empty(); }
  void tick(Instant now) {
    std::erase_if(all_, [](const std::weak_ptr<Ticked>& each) { return each.expired(); });
    const std::vector<std::weak_ptr<Ticked>> current = all_;  // a tick may add others
    for (const std::weak_ptr<Ticked>& each : current)
      if (const auto ticked = each.lock()) ticked->tick(now);
  }

 private:
  std::vector<std::weak_ptr<Ticked>> all_;
};

}  // namespace agentrt::channels
