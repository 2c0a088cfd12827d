// control/context/threads.h: refusals that commands about the history of a thread share.
#pragma once

#include "control/decisions.h"

namespace agentrt::control {

Error no_open_thread(const SessionId& session, const ThreadId& thread);
Error no_turn(const SessionId& session, const ThreadId& thread, const TurnId& turn);
// The turn runs or waits, and must end first.
Error not_ended(const Turn& turn);

}  // namespace agentrt::control
