#include "kernel/claims.h"

namespace agentrt::kernel {

void Claims::claim(std::vector<std::string> names, ports::Step granted) {
  for (const std::string& name : names) {
    const auto held = held_.find(name);
    if (held == held_.end()) continue;
    held->second.push_back({std::move(names), std::move(granted)});
    return;
  }
  for (const std::string& name : names) held_[name];
  granted();
}

void Claims::release(const std::vector<std::string>& names) {
  std::deque<Waiting> woken;
  for (const std::string& name : names) {
    const auto held = held_.find(name);
    if (held == held_.end()) continue;
    for (Waiting& waiting : held->second) woken.push_back(std::move(waiting));
    held_.erase(held);
  }
  for (Waiting& waiting : woken)
    loop_.post([this, waiting = std::move(waiting)]() mutable {
      claim(std::move(waiting.names), std::move(waiting.granted));
    });
}

}  // namespace agentrt::kernel
