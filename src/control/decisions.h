// control/decisions.h: one decision a command, one a report. decide() is the table over them.
#pragma once

#include "control/decide.h"

namespace agentrt::control {

using state::Session;
using state::Thread;
using state::Turn;

Decision create_session(const Session&, const schema::CreateSession&, Inputs);
Decision update_session(const Session&, const schema::UpdateSession&, Inputs);
Decision submit_turn(const Session&, const schema::SubmitTurn&, Inputs);
Decision interrupt_turn(const Session&, const schema::InterruptTurn&, Inputs);
Decision resume_thread(const Session&, const schema::ResumeThread&, Inputs);
Decision remove_queued_turn(const Session&, const schema::RemoveQueuedTurn&, Inputs);
Decision promote_queued_turn(const Session&, const schema::PromoteQueuedTurn&, Inputs);

Decision restarted(const Session&, const schema::ReportRestarted&, Inputs);
Decision prepared(const Session&, const schema::ReportPrepared&, Inputs);
Decision fragments(const Session&, const schema::ReportFragments&, Inputs);
Decision model_completed(const Session&, const schema::ReportModelCompleted&, Inputs);
Decision model_failed(const Session&, const schema::ReportModelFailed&, Inputs);
Decision retry_due(const Session&, const schema::ReportRetryDue&, Inputs);
Decision process_ready(const Session&, const schema::ReportProcessReady&, Inputs);
Decision process_news(const Session&, const schema::ReportProcessNews&, Inputs);
Decision tool_ended(const Session&, const schema::ReportToolEnded&, Inputs);
Decision uploaded(const Session&, const schema::ReportUploaded&, Inputs);
Decision output_due(const Session&, const schema::ReportOutputDue&, Inputs);

}  // namespace agentrt::control
