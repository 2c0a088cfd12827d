// control/decisions.h: one decision function per command and per report. decide() dispatches to
// them.
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
Decision write_process_stdin(const Session&, const schema::WriteProcessStdin&, Inputs);
Decision resize_process(const Session&, const schema::ResizeProcess&, Inputs);
Decision terminate_process(const Session&, const schema::TerminateProcess&, Inputs);

Decision respond_action(const Session&, const schema::RespondAction&, Inputs);
Decision resolve_permission(const Session&, const schema::ResolvePermission&, Inputs);
Decision set_policy(const Session&, const schema::SetPolicy&, Inputs);
Decision trust_workspace(const Session&, const schema::TrustWorkspace&, Inputs);

Decision restarted(const Session&, const schema::ReportRestarted&, Inputs);
Decision prepared(const Session&, const schema::ReportPrepared&, Inputs);
Decision fragments(const Session&, const schema::ReportFragments&, Inputs);
Decision model_completed(const Session&, const schema::ReportModelCompleted&, Inputs);
Decision model_failed(const Session&, const schema::ReportModelFailed&, Inputs);
Decision retry_due(const Session&, const schema::ReportRetryDue&, Inputs);
Decision inspected(const Session&, const schema::ReportInspected&, Inputs);
Decision hook_ended(const Session&, const schema::ReportHookEnded&, Inputs);
Decision action_expired(const Session&, const schema::ReportActionExpired&, Inputs);
Decision process_ready(const Session&, const schema::ReportProcessReady&, Inputs);
Decision process_news(const Session&, const schema::ReportProcessNews&, Inputs);
Decision process_notice(const Session&, const schema::ReportProcessNotice&, Inputs);
Decision tool_ended(const Session&, const schema::ReportToolEnded&, Inputs);
Decision file_change(const Session&, const schema::ReportFileChange&, Inputs);
Decision tool_progress(const Session&, const schema::ReportToolProgress&, Inputs);
Decision tool_asks(const Session&, const schema::ReportToolAsks&, Inputs);
Decision call_ended(const Session&, const schema::ReportCallEnded&, Inputs);
Decision uploaded(const Session&, const schema::ReportUploaded&, Inputs);
Decision output_due(const Session&, const schema::ReportOutputDue&, Inputs);

}  // namespace agentrt::control
