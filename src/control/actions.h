// control/actions.h: how a wait for a decision ends when nobody decides.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// Ends the wait of the turn: `how` is cancelled or expired, which nobody chose.
void withdraw(Facts& facts, const Turn& turn, const std::string& how, const std::string& reason);

}  // namespace agentrt::control
