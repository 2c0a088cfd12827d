// control/judging.h: the policy decision for a call of a turn, and the digest that an approval is
// bound to.
#pragma once

#include "control/decisions.h"
#include "policy/permission.h"
#include "schema/binding.h"

namespace agentrt::control {

// The digest that an approval is bound to: covers the call, its session and the inspected state.
std::string approval_digest(const SessionId& session, const state::ToolCall& call,
                            const schema::Binding& binding,
                            const std::optional<Timestamp>& expires_at);

// The policy that a turn is under, for a decision.
policy::Effective effective_policy(const Session& view, const Turn& turn, const Inputs& inputs);
// The same away from the core, with rule sets of the caller's own.
policy::Effective effective_policy(const Session& view, const Turn& turn, const std::string& home,
                                   policy::RuleSets& sets);

// The call asks for more than the sandbox of its turn gives.
bool leaves_sandbox(const policy::Effective& policy, const state::ToolCall& call);
// What policy is asked about a call.
policy::Asked asked_of(const Session& view, const policy::Effective& policy,
                       const state::ToolCall& call);
// The decision that a call gets. `now` is what grants are compared with, if it was looked up.
policy::Judgement judge_call(const Session& view, const policy::Effective& policy,
                             const state::ToolCall& call, const schema::Binding* now = nullptr);
// The decision as a fact.
schema::PermissionEvaluated evaluated(const policy::Judgement& judgement,
                                      schema::PermissionMode mode);

}  // namespace agentrt::control
