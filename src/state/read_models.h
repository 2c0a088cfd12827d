// state/read_models.h: derives the snapshots that clients read from a view. Pure.
#pragma once

#include "schema/commands/processes.h"
#include "schema/snapshots.h"
#include "state/session.h"
#include "state/tasks.h"

namespace agentrt::state {

schema::TurnSnapshot turn_snapshot(const Turn& turn);
schema::TaskSnapshot task_snapshot(const SessionId& session, const Turn& turn);
// The whole record, with all the attempts and edges that it holds.
schema::TaskSnapshot task_snapshot(const SessionId& session, const Task& task);
schema::AttemptSnapshot attempt_snapshot(const TaskAttempt& attempt);
schema::ActionSnapshot action_snapshot(const Session& session, const Turn& turn,
                                       const Action& action);
schema::ProcessSnapshot process_snapshot(const Process& process);
schema::SessionSummary session_summary(const Session& session);
schema::JobSummary job_summary(const SessionId& session, const schema::JobRecord& job);

// Contains all threads of the view. Leaves history, generation and runtime id unset, since the view
// does not contain them; and so does thread_read with jobs, which need the records of their tasks.
schema::SessionSnapshot session_snapshot(const Session& session);
schema::ThreadSnapshot thread_snapshot(const Session& session, const Thread& thread);
schema::ThreadRead thread_read(const Session& session, const Thread& thread);

// Describes `thread`, or by default the thread whose turn was prepared last. A process that `boot`
// has not yet found again is `unknown`; without a boot, each has the status that the log gives it.
// Leaves generation unset.
schema::EnvironmentSnapshot environment_snapshot(const Session& session,
                                                 const std::optional<ThreadId>& thread,
                                                 const std::optional<BootId>& boot);

// log:N
std::string log_ref(Sequence sequence);
// The sequence that a ref of the form log:N names; 0: it names none.
Sequence sequence_in(const std::optional<std::string>& ref);
// log:FIRST-LAST
std::string log_ref(Sequence first, Sequence last);

}  // namespace agentrt::state
