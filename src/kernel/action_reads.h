// kernel/action_reads.h: read queries about permissions: actions (questions to the user), the
// decision that a call would get, rules in force, and trust in files. Each returns the JSON of its
// reply. All of them block and run on a worker; none appends.
#pragma once

#include <optional>
#include <string>

#include "control/decide.h"
#include "kernel/limits.h"
#include "ports/policies.h"
#include "store/store.h"

namespace agentrt::kernel {

// Pending actions, of one session or of all; with includeResolved also the answered ones. Errors:
// invalid_params: a wrong limit or cursor; gone: a cursor from before the store was restored.
Result<std::string> list_actions(store::Store& store, const schema::ListActions& query,
                                 const Limits& limits);
// The decision that a call would get in a session with the id, folder, mode and granted rules of
// `view`. The rest of the policy is read from the current files. Errors: invalid_params, not_found:
// there is no such tool, or its arguments are wrong; conflict: the folder is not that of the
// session; forbidden: the host policy forbids the mode.
Result<std::string> evaluate_permission(ports::Policies* policies, state::Session view,
                                        const schema::EvaluatePermission& query,
                                        const control::Settings& settings);
// The rules and the mode of a session like `view`. Reads the current policy.
Result<std::string> read_rules(ports::Policies* policies, const state::Session& view,
                               const schema::GetRules& query);
// The files of a folder that can add rules, hooks and models, and whether each is trusted.
Result<std::string> read_trust(ports::Policies* policies, const schema::GetTrust& query);

}  // namespace agentrt::kernel
