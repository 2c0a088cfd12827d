// cli/owner/background.h: starts a background owner of the data folder.
//
// The owner is this binary with the hidden verb `own`, in a process session of its own, so that
// nothing that happens to the terminal of the command that started it reaches it. It reports over
// an inherited pipe when it is ready, or why it is not.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace agentrt::cli {

// An owner.log larger than this is started anew by the next owner.
inline constexpr long kOwnerLogBytesMax = 1 << 20;
// From its start until it is ready. A store that needs recovery takes long.
inline constexpr int kOwnerReadyMs = 60'000;

struct BackgroundOptions {
  std::string data;                   // absolute
  std::optional<std::string> config;  // --config, absolute
  std::function<bool()> abandon;      // gives up waiting when it turns true
};

// Returns when the owner is ready. Errors: conflict (another process became the owner), what else
// stopped it, or unavailable, which names its log file.
Result<void> start_background_owner(const BackgroundOptions& options);

// For the owner: the pipe to the command that started it. Reports the outcome and closes it.
inline constexpr int kReportFd = 3;
void report_start(const Result<void>& outcome);

}  // namespace agentrt::cli
