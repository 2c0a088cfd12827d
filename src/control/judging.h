// control/judging.h: what policy says about a call of a turn, and what an answer about it is bound
// to.
#pragma once

#include "control/decisions.h"
#include "policy/permission.h"
#include "schema/binding.h"

namespace agentrt::control {

// What a person is asked about a call is bound to: over the call, its session and the world.
std::string approval_digest(const SessionId& session, const state::ToolCall& call,
                            const schema::Binding& binding,
                            const std::optional<Timestamp>& expires_at);

// The mode that a turn is under, and the sandbox that its calls get.
schema::PermissionMode mode_of(const Session& view, const Turn& turn);
schema::SandboxMode sandbox_of(const Session& view, const Turn& turn);

// The call asks for more than the sandbox of its turn gives.
bool leaves_sandbox(const Session& view, const Turn& turn, const state::ToolCall& call);
// What policy is asked about a call.
policy::Asked asked_of(const Session& view, const Turn& turn, const state::ToolCall& call,
                       const std::string& home);
// The decision that a call gets under the session's policy. `now` is what grants are held against,
// where that was looked up.
policy::Judgement judge_call(const Session& view, const Turn& turn, const state::ToolCall& call,
                             const std::string& home, const schema::Binding* now = nullptr);
// The decision as a fact.
schema::PermissionEvaluated evaluated(const policy::Judgement& judgement,
                                      schema::PermissionMode mode);

}  // namespace agentrt::control
