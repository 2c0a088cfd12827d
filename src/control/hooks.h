// control/hooks.h: which hook is heard next, and what it means when one fails.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "control/turn_facts.h"
#include "schema/policy.h"

namespace agentrt::control {

// The place of the first hook at `point`, from `from` on, that applies to the subject: a tool, or
// how the session starts.
std::optional<std::uint64_t> next_hook(const std::vector<schema::HookSpec>& hooks,
                                       schema::HookPoint point, std::uint64_t from,
                                       std::string_view subject);

// The hook that the turn hears has failed. Says what that means.
schema::OnFailure fail_hook(Facts& facts, const Turn& turn, const schema::Failure& error,
                            std::int64_t duration_ms);

}  // namespace agentrt::control
