// control/actions.h: ends a pending action without an answer.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// Closes the turn's pending action. `how` is "cancelled" or "expired"; a pending permission is
// denied.
void withdraw(Facts& facts, const Turn& turn, const std::string& how, const std::string& reason);

}  // namespace agentrt::control
