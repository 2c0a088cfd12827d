// kernel/claims.h: locks on names that a command in progress will use.
//
// An idempotency key or a caller-chosen id is looked up in the store before its command is decided.
// Two commands with the same name must not both find it unused, so each first claims its names. The
// second waits until the first is stored or refused, and then sees its result. The number of
// waiters is bounded by the commands in flight. Core only.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "ports/loop.h"

namespace agentrt::kernel {

class Claims {
 public:
  explicit Claims(ports::Loop& loop) : loop_(loop) {}

  // Claims all names and runs `granted`: immediately if no name is claimed, otherwise when they are
  // all free. A waiter holds no name, so two waiters cannot block each other.
  void claim(std::vector<std::string> names, ports::Step granted);
  // The caller must release exactly the names that it was granted.
  void release(const std::vector<std::string>& names);

 private:
  struct Waiting {
    std::vector<std::string> names;
    ports::Step granted;
  };

  ports::Loop& loop_;
  std::unordered_map<std::string, std::deque<Waiting>>
      held_;  // the claimed names, each with its waiters
};

}  // namespace agentrt::kernel
