// conversation/history/limits.h: the bounds of the history of a model request, with defaults.
#pragma once

#include <cstddef>

namespace agentrt::conversation {

struct HistoryLimits {
  std::size_t turns_max = 20;          // earlier turns sent to a model
  std::size_t bytes_max = 256 * 1024;  // of messages, where the model's context size is unknown
  std::size_t kept_bytes = 4 << 20;    // cached for all running turns together
  std::size_t scanned_max = 2'000;     // index rows read to find earlier turns
  std::size_t facts_max = 200'000;     // facts read for the calls and results of one turn
};

}  // namespace agentrt::conversation
