// control/decisions.h: one decision function per command and per report. decide() dispatches to
// them.
#pragma once

#include "control/decide.h"

namespace agentrt::control {

using state::Session;
using state::Thread;
using state::Turn;

Decided create_session(const Session&, const schema::CreateSession&, Inputs);
Decided update_session(const Session&, const schema::UpdateSession&, Inputs);
Decided submit_turn(const Session&, const schema::SubmitTurn&, Inputs);
Decided interrupt_turn(const Session&, const schema::InterruptTurn&, Inputs);
Decided resume_thread(const Session&, const schema::ResumeThread&, Inputs);
Decided remove_queued_turn(const Session&, const schema::RemoveQueuedTurn&, Inputs);
Decided promote_queued_turn(const Session&, const schema::PromoteQueuedTurn&, Inputs);
Decided write_process_stdin(const Session&, const schema::WriteProcessStdin&, Inputs);
Decided resize_process(const Session&, const schema::ResizeProcess&, Inputs);
Decided terminate_process(const Session&, const schema::TerminateProcess&, Inputs);

Decided compact_thread(const Session&, const schema::CompactThread&, Inputs);
Decided fork_thread(const Session&, const schema::ForkThread&, Inputs);
Decided rollback_thread(const Session&, const schema::RollbackThread&, Inputs);

Decided spawn_subagent(const Session&, const schema::SpawnSubagent&, Inputs);
Decided send_subagent_input(const Session&, const schema::SendSubagentInput&, Inputs);
Decided resume_subagent(const Session&, const schema::ResumeSubagent&, Inputs);
Decided close_subagent(const Session&, const schema::CloseSubagent&, Inputs);

Decided respond_action(const Session&, const schema::RespondAction&, Inputs);
Decided resolve_permission(const Session&, const schema::ResolvePermission&, Inputs);
Decided set_policy(const Session&, const schema::SetPolicy&, Inputs);
Decided set_folder_policy(const Session&, const schema::SetFolderPolicy&, Inputs);
Decided trust_workspace(const Session&, const schema::TrustWorkspace&, Inputs);

Decided create_task(const Session&, const schema::CreateTask&, Inputs);
Decided update_task(const Session&, const schema::UpdateTask&, Inputs);
Decided start_task(const Session&, const schema::StartTask&, Inputs);
Decided retry_task(const Session&, const schema::RetryTask&, Inputs);
Decided claim_task(const Session&, const schema::ClaimTask&, Inputs);
Decided append_task_progress(const Session&, const schema::AppendTaskProgress&, Inputs);
Decided complete_task(const Session&, const schema::CompleteTask&, Inputs);
Decided fail_task(const Session&, const schema::FailTask&, Inputs);
Decided pause_task(const Session&, const schema::PauseTask&, Inputs);
Decided resume_task(const Session&, const schema::ResumeTask&, Inputs);
Decided archive_task(const Session&, const schema::ArchiveTask&, Inputs);
Decided cancel_task(const Session&, const schema::CancelTask&, Inputs);
Decided link_tasks(const Session&, const schema::LinkTasks&, Inputs);
Decided unlink_tasks(const Session&, const schema::UnlinkTasks&, Inputs);

Decided create_job(const Session&, const schema::CreateJob&, Inputs);
Decided cancel_job(const Session&, const schema::CancelJob&, Inputs);
Decided retry_job_item(const Session&, const schema::RetryJobItem&, Inputs);

Decided connect_channel(const Session&, const schema::ConnectChannel&, Inputs);
Decided reconnect_channel(const Session&, const schema::ReconnectChannel&, Inputs);
Decided disconnect_channel(const Session&, const schema::DisconnectChannel&, Inputs);
Decided send_channel_message(const Session&, const schema::SendChannelMessage&, Inputs);
Decided link_peer_task(const Session&, const schema::LinkPeerTask&, Inputs);
Decided update_peer_task(const Session&, const schema::UpdatePeerTask&, Inputs);

Decided restarted(const Session&, const schema::ReportRestarted&, Inputs);
Decided prepared(const Session&, const schema::ReportPrepared&, Inputs);
Decided tools_listed(const Session&, const schema::ReportToolsListed&, Inputs);
Decided fragments(const Session&, const schema::ReportFragments&, Inputs);
Decided model_completed(const Session&, const schema::ReportModelCompleted&, Inputs);
Decided model_failed(const Session&, const schema::ReportModelFailed&, Inputs);
Decided retry_due(const Session&, const schema::ReportRetryDue&, Inputs);
Decided inspected(const Session&, const schema::ReportInspected&, Inputs);
Decided hook_ended(const Session&, const schema::ReportHookEnded&, Inputs);
Decided action_expired(const Session&, const schema::ReportActionExpired&, Inputs);
Decided process_ready(const Session&, const schema::ReportProcessReady&, Inputs);
Decided process_news(const Session&, const schema::ReportProcessNews&, Inputs);
Decided process_notice(const Session&, const schema::ReportProcessNotice&, Inputs);
Decided tool_ended(const Session&, const schema::ReportProcessEnded&, Inputs);
Decided file_change(const Session&, const schema::ReportFileChange&, Inputs);
Decided tool_progress(const Session&, const schema::ReportToolProgress&, Inputs);
Decided tool_warning(const Session&, const schema::ReportToolWarning&, Inputs);
Decided tool_asks(const Session&, const schema::ReportToolAsks&, Inputs);
Decided call_ended(const Session&, const schema::ReportCallEnded&, Inputs);
Decided uploaded(const Session&, const schema::ReportUploaded&, Inputs);
Decided output_due(const Session&, const schema::ReportOutputDue&, Inputs);
Decided task_due(const Session&, const schema::ReportTaskDue&, Inputs);
Decided task_silent(const Session&, const schema::ReportTaskSilent&, Inputs);
Decided task_continues(const Session&, const schema::ReportTaskContinues&, Inputs);
Decided job_items(const Session&, const schema::ReportJobItems&, Inputs);
Decided item_judged(const Session&, const schema::ReportItemJudged&, Inputs);
Decided job_due(const Session&, const schema::ReportJobDue&, Inputs);
Decided wait_due(const Session&, const schema::ReportWaitDue&, Inputs);
Decided compaction_planned(const Session&, const schema::ReportCompactionPlanned&, Inputs);
Decided compacted(const Session&, const schema::ReportCompacted&, Inputs);
Decided restore_files(const Session&, const schema::ReportRestoreFiles&, Inputs);
Decided channel_lost(const Session&, const schema::ReportChannelLost&, Inputs);
Decided channel_due(const Session&, const schema::ReportChannelDue&, Inputs);

}  // namespace agentrt::control
