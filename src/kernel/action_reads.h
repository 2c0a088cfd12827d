// kernel/action_reads.h: read queries about permissions: pending actions, the decision that a call
// would get, and trusted files. All of them block and run on a worker; none appends.
#pragma once

#include <optional>
#include <string>

#include "control/decide.h"
#include "kernel/limits.h"
#include "ports/policies.h"
#include "store/store.h"

namespace agentrt::kernel {

Result<std::string> list_actions(store::Store& store, const schema::ListActions& query,
                                 const Limits& limits);
// The decision that a call would get in a session like `view`. Reads the current policy.
Result<std::string> evaluate_permission(ports::Policies* policies, state::Session view,
                                        const schema::EvaluatePermission& query,
                                        const control::Settings& settings);
Result<std::string> read_trust(ports::Policies* policies, const schema::GetTrust& query);

}  // namespace agentrt::kernel
