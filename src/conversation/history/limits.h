// conversation/history/limits.h: the bounds of the conversations in memory, with defaults.
#pragma once

#include <cstddef>

namespace agentrt::conversation {

struct HistoryLimits {
  // Memory of the kept conversations of all threads together, in bytes.
  std::size_t kept_bytes = 64 << 20;
};

}  // namespace agentrt::conversation
