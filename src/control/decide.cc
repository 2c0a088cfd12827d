#include "control/decide.h"

#include "control/channels/channels.h"
#include "control/decisions.h"
#include "control/jobs/jobs.h"
#include "control/subagents/subagents.h"

namespace agentrt::control {
namespace {

using namespace schema;

struct CommandTable {
  const Session& view;
  Inputs& inputs;

  Decided operator()(const CreateSession& c) { return create_session(view, c, std::move(inputs)); }
  Decided operator()(const UpdateSession& c) { return update_session(view, c, std::move(inputs)); }
  Decided operator()(const SubmitTurn& c) { return submit_turn(view, c, std::move(inputs)); }
  Decided operator()(const InterruptTurn& c) { return interrupt_turn(view, c, std::move(inputs)); }
  Decided operator()(const ResumeThread& c) { return resume_thread(view, c, std::move(inputs)); }
  Decided operator()(const RemoveQueuedTurn& c) {
    return remove_queued_turn(view, c, std::move(inputs));
  }
  Decided operator()(const PromoteQueuedTurn& c) {
    return promote_queued_turn(view, c, std::move(inputs));
  }
  Decided operator()(const RespondAction& c) { return respond_action(view, c, std::move(inputs)); }
  Decided operator()(const ResolvePermission& c) {
    return resolve_permission(view, c, std::move(inputs));
  }
  Decided operator()(const SetPolicy& c) { return set_policy(view, c, std::move(inputs)); }
  Decided operator()(const SetFolderPolicy& c) {
    return set_folder_policy(view, c, std::move(inputs));
  }
  Decided operator()(const TrustWorkspace& c) {
    return trust_workspace(view, c, std::move(inputs));
  }
  Decided operator()(const WriteProcessStdin& c) {
    return write_process_stdin(view, c, std::move(inputs));
  }
  Decided operator()(const ResizeProcess& c) { return resize_process(view, c, std::move(inputs)); }
  Decided operator()(const TerminateProcess& c) {
    return terminate_process(view, c, std::move(inputs));
  }
  Decided operator()(const CompactThread& c) { return compact_thread(view, c, std::move(inputs)); }
  Decided operator()(const ForkThread& c) { return fork_thread(view, c, std::move(inputs)); }
  Decided operator()(const RollbackThread& c) {
    return rollback_thread(view, c, std::move(inputs));
  }
  Decided operator()(const CreateTask& c) { return create_task(view, c, std::move(inputs)); }
  Decided operator()(const UpdateTask& c) { return update_task(view, c, std::move(inputs)); }
  Decided operator()(const StartTask& c) { return start_task(view, c, std::move(inputs)); }
  Decided operator()(const RetryTask& c) { return retry_task(view, c, std::move(inputs)); }
  Decided operator()(const ClaimTask& c) { return claim_task(view, c, std::move(inputs)); }
  Decided operator()(const AppendTaskProgress& c) {
    return append_task_progress(view, c, std::move(inputs));
  }
  Decided operator()(const CompleteTask& c) { return complete_task(view, c, std::move(inputs)); }
  Decided operator()(const FailTask& c) { return fail_task(view, c, std::move(inputs)); }
  Decided operator()(const PauseTask& c) { return pause_task(view, c, std::move(inputs)); }
  Decided operator()(const ResumeTask& c) { return resume_task(view, c, std::move(inputs)); }
  Decided operator()(const ArchiveTask& c) { return archive_task(view, c, std::move(inputs)); }
  Decided operator()(const CancelTask& c) { return cancel_task(view, c, std::move(inputs)); }
  Decided operator()(const LinkTasks& c) { return link_tasks(view, c, std::move(inputs)); }
  Decided operator()(const UnlinkTasks& c) { return unlink_tasks(view, c, std::move(inputs)); }
  Decided operator()(const CreateJob& c) { return create_job(view, c, std::move(inputs)); }
  Decided operator()(const CancelJob& c) { return cancel_job(view, c, std::move(inputs)); }
  Decided operator()(const RetryJobItem& c) { return retry_job_item(view, c, std::move(inputs)); }
  Decided operator()(const SpawnSubagent& c) { return spawn_subagent(view, c, std::move(inputs)); }
  Decided operator()(const SendSubagentInput& c) {
    return send_subagent_input(view, c, std::move(inputs));
  }
  Decided operator()(const ResumeSubagent& c) {
    return resume_subagent(view, c, std::move(inputs));
  }
  Decided operator()(const CloseSubagent& c) { return close_subagent(view, c, std::move(inputs)); }
  Decided operator()(const ConnectChannel& c) {
    return connect_channel(view, c, std::move(inputs));
  }
  Decided operator()(const ReconnectChannel& c) {
    return reconnect_channel(view, c, std::move(inputs));
  }
  Decided operator()(const DisconnectChannel& c) {
    return disconnect_channel(view, c, std::move(inputs));
  }
  Decided operator()(const SendChannelMessage& c) {
    return send_channel_message(view, c, std::move(inputs));
  }
  Decided operator()(const LinkPeerTask& c) { return link_peer_task(view, c, std::move(inputs)); }
  Decided operator()(const UpdatePeerTask& c) {
    return update_peer_task(view, c, std::move(inputs));
  }
  Decided operator()(const AckEvents&) {
    stop("an acknowledgement is stored beside the log, without a decision");
  }
  template <class Read>
  Decided operator()(const Read&) {
    static_assert(Read::kTraits.effect == CommandEffect::reads,
                  "every mutating command has a decision");
    stop("a command that only reads is not decided");
  }
};

struct ReportTable {
  const Session& view;
  Inputs& inputs;

  Decided operator()(const ReportRestarted& r) { return restarted(view, r, std::move(inputs)); }
  Decided operator()(const ReportPrepared& r) { return prepared(view, r, std::move(inputs)); }
  Decided operator()(const ReportToolsListed& r) {
    return tools_listed(view, r, std::move(inputs));
  }
  Decided operator()(const ReportFragments& r) { return fragments(view, r, std::move(inputs)); }
  Decided operator()(const ReportModelCompleted& r) {
    return model_completed(view, r, std::move(inputs));
  }
  Decided operator()(const ReportModelFailed& r) {
    return model_failed(view, r, std::move(inputs));
  }
  Decided operator()(const ReportRetryDue& r) { return retry_due(view, r, std::move(inputs)); }
  Decided operator()(const ReportInspected& r) { return inspected(view, r, std::move(inputs)); }
  Decided operator()(const ReportHookEnded& r) { return hook_ended(view, r, std::move(inputs)); }
  Decided operator()(const ReportActionExpired& r) {
    return action_expired(view, r, std::move(inputs));
  }
  Decided operator()(const ReportProcessReady& r) {
    return process_ready(view, r, std::move(inputs));
  }
  Decided operator()(const ReportProcessNews& r) {
    return process_news(view, r, std::move(inputs));
  }
  Decided operator()(const ReportProcessNotice& r) {
    return process_notice(view, r, std::move(inputs));
  }
  Decided operator()(const ReportProcessEnded& r) { return tool_ended(view, r, std::move(inputs)); }
  Decided operator()(const ReportFileChange& r) { return file_change(view, r, std::move(inputs)); }
  Decided operator()(const ReportToolProgress& r) {
    return tool_progress(view, r, std::move(inputs));
  }
  Decided operator()(const ReportToolWarning& r) {
    return tool_warning(view, r, std::move(inputs));
  }
  Decided operator()(const ReportToolAsks& r) { return tool_asks(view, r, std::move(inputs)); }
  Decided operator()(const ReportCallEnded& r) { return call_ended(view, r, std::move(inputs)); }
  Decided operator()(const ReportUploaded& r) { return uploaded(view, r, std::move(inputs)); }
  Decided operator()(const ReportOutputDue& r) { return output_due(view, r, std::move(inputs)); }
  Decided operator()(const ReportTaskDue& r) { return task_due(view, r, std::move(inputs)); }
  Decided operator()(const ReportTaskSilent& r) { return task_silent(view, r, std::move(inputs)); }
  Decided operator()(const ReportTaskContinues& r) {
    return task_continues(view, r, std::move(inputs));
  }
  Decided operator()(const ReportJobItems& r) { return job_items(view, r, std::move(inputs)); }
  Decided operator()(const ReportItemJudged& r) { return item_judged(view, r, std::move(inputs)); }
  Decided operator()(const ReportJobDue& r) { return job_due(view, r, std::move(inputs)); }
  Decided operator()(const ReportWaitDue& r) { return wait_due(view, r, std::move(inputs)); }
  Decided operator()(const ReportCompactionPlanned& r) {
    return compaction_planned(view, r, std::move(inputs));
  }
  Decided operator()(const ReportCompacted& r) { return compacted(view, r, std::move(inputs)); }
  Decided operator()(const ReportRestoreFiles& r) {
    return restore_files(view, r, std::move(inputs));
  }
  Decided operator()(const ReportChannelLost& r) {
    return channel_lost(view, r, std::move(inputs));
  }
  Decided operator()(const ReportChannelDue& r) { return channel_due(view, r, std::move(inputs)); }
};

// Decides, and adds what the facts mean for jobs (the end of an item may end its job) and for the
// parents of subagents.
template <class Table, class What>
Decided decide_work(const Session& view, const What& what, Inputs inputs) {
  if (view.jobs.empty() && view.subagents.empty()) return std::visit(Table{view, inputs}, what);
  Inputs later{.now = inputs.now,
               .ids = inputs.ids.split(),
               .boot = inputs.boot,
               .settings = inputs.settings,
               .session = inputs.session,
               .request = inputs.request,
               .principal = {},
               .trace = {},
               .params_hash = {},
               .named = {},
               .tasks = inputs.tasks,
               .passed_since = inputs.passed_since};
  Decided decided = std::visit(Table{view, inputs}, what);
  if (auto* accepted = std::get_if<Accepted>(&decided)) settle_jobs(view, accepted->facts, later);
  later.ids = later.ids.split();
  return with_parents(view, std::move(decided), std::move(later));
}

// The same, and adds what the facts mean for channels.
template <class Table, class What>
Decided decide_all(const Session& view, const What& what, Inputs inputs) {
  const ChannelNews news{inputs.session, inputs.request, inputs.channel};
  Decided decided = decide_work<Table>(view, what, std::move(inputs));
  if (auto* accepted = std::get_if<Accepted>(&decided))
    settle_channels(view, accepted->facts, news);
  return decided;
}

}  // namespace

Decided decide(const Session& view, const Command& command, Inputs inputs) {
  if (auto refused = settle_origin(view, inputs)) return *std::move(refused);
  return decide_all<CommandTable>(view, command, std::move(inputs));
}

Decided decide(const Session& view, const Report& report, Inputs inputs) {
  return decide_all<ReportTable>(view, report, std::move(inputs));
}

}  // namespace agentrt::control
