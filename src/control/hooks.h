// control/hooks.h: selects the next hook to run, and records a hook's failure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "control/turn_facts.h"
#include "schema/policy.h"

namespace agentrt::control {

// The index of the first hook at `point`, starting at `from`, that applies to the subject: a tool
// name, or how the session starts.
std::optional<std::uint64_t> next_hook(const std::vector<schema::HookSpec>& hooks,
                                       schema::HookPoint point, std::uint64_t from,
                                       std::string_view subject);

// Records that the turn's running hook failed. Returns the hook's on_failure setting.
schema::OnFailure fail_hook(Facts& facts, const Turn& turn, const schema::Failure& error,
                            std::int64_t duration_ms);

}  // namespace agentrt::control
