// adapters/hooks/run_hook.h: one hook from its start to its end.
//
// The command runs with /bin/bash -c through the launcher like every other process. It reads its
// input from a file without a name, so that a hook that does not read holds nobody up. It ends with
// everything that it started: when it exits, at its time limit, when it writes too much, or when
// whoever asked has gone. Blocking, and safe from any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ports/hooks.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kHookSetupMaxMs = 30'000;  // until its sandbox is ready

// Nothing: `gone` became readable, and the hook was ended.
std::optional<schema::HookOutcome> run_hook(const ports::HookRequest& request,
                                            const schema::SandboxProfile& profile, int gone);

}  // namespace agentrt::adapters
