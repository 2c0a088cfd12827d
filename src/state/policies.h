// state/policies.h: applies facts about policy and permissions to a session and its threads. Pure;
// part of fold().
#pragma once

#include "state/session.h"

namespace agentrt::state {

void change_policy(Session& session, const schema::Fact& fact, const schema::PolicyChanged& change);

// The rules granted to the session that apply to the turn: without those of other channels. Refers
// to the session or to `room`.
const std::vector<schema::PolicyRule>& granted_to(const Session& session, const Turn& turn,
                                                  std::vector<schema::PolicyRule>& room);

// Count what was decided about a call, and what a sandbox has stopped, for the session and for the
// thread. `thread` may be null.
void count_decision(Session& session, Thread* thread, schema::DecisionSource source,
                    schema::Decision decision);
void count_violation(Session& session, Thread* thread, const schema::Fact& fact,
                     const schema::SandboxViolation& violation);

}  // namespace agentrt::state
