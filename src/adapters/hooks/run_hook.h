// adapters/hooks/run_hook.h: runs one hook from start to end.
//
// The command runs as /bin/bash -c through the launcher, like every other process. It reads its
// input from an anonymous file, so a hook that does not read cannot block the writer. When it
// exits, exceeds its time limit, writes too much or is cancelled, it is killed with every process
// that it started. Blocking; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ports/hooks.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kHookSetupMaxMs = 30'000;  // timeout for the sandbox setup

// Empty: `gone` became readable and the hook was killed.
std::optional<schema::HookOutcome> run_hook(const ports::HookRequest& request,
                                            const schema::SandboxProfile& profile, int gone);

}  // namespace agentrt::adapters
