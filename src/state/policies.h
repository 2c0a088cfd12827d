// state/policies.h: applies facts to the policy of a session and of its threads. Pure; part of
// fold().
#pragma once

#include "state/session.h"

namespace agentrt::state {

void change_policy(Session& session, const schema::Fact& fact, const schema::PolicyChanged& change);

}  // namespace agentrt::state
