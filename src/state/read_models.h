// state/read_models.h: the view as clients read it. Pure: a view in, a snapshot out.
#pragma once

#include "schema/commands/processes.h"
#include "schema/snapshots.h"
#include "state/session.h"

namespace agentrt::state {

schema::TurnSnapshot turn_snapshot(const Turn& turn);
schema::TaskSnapshot task_snapshot(const SessionId& session, const Turn& turn);
schema::ActionSnapshot action_snapshot(const SessionId& session, const Turn& turn,
                                       const Action& action);
schema::ProcessSnapshot process_snapshot(const Process& process);
schema::SessionSummary session_summary(const Session& session);

// Without history, generation and runtime id, which the view does not know.
schema::SessionSnapshot session_snapshot(const Session& session);
schema::ThreadRead thread_read(const Session& session, const Thread& thread);

// Of the thread, or of the one whose turn was prepared last. A process that `boot` has not found
// again is `unknown`. Without generation.
schema::EnvironmentSnapshot environment_snapshot(const Session& session,
                                                 const std::optional<ThreadId>& thread,
                                                 const BootId& boot);

// log:N
std::string log_ref(Sequence sequence);
// log:FIRST-LAST
std::string log_ref(Sequence first, Sequence last);

}  // namespace agentrt::state
