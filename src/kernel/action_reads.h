// kernel/action_reads.h: answers about decisions: what waits for one, what one would be, which
// files are trusted. All of these block and run on a worker; none of them appends.
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
Result<std::optional<schema::ActionSnapshot>> find_action(store::Store& store,
                                                          const ActionId& action);
// The decision that a call would get in a session like `view`, whose policy is read anew.
Result<std::string> evaluate_permission(ports::Policies* policies, state::Session view,
                                        const schema::EvaluatePermission& query,
                                        const control::Settings& settings);
Result<std::string> read_trust(ports::Policies* policies, const schema::GetTrust& query);

}  // namespace agentrt::kernel
