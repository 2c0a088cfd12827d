// state/fold.cc: applies each fact to a session, with one overload per fact type.
#include <algorithm>
#include <concepts>
#include <utility>

#include "base/check.h"
#include "state/contexts.h"
#include "state/job_facts.h"
#include "state/policies.h"
#include "state/processes.h"
#include "state/rollbacks.h"
#include "state/session.h"

namespace agentrt::state {
namespace {

using namespace schema;

constexpr std::string_view kResumedReason = "resumed";  // of task.resumed: not by an answer
constexpr std::string_view kClosedReason = "closed";  // of thread.updated: no further turn follows

template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);

const TurnId& id_of(const Turn& turn) { return turn.ids.turn; }

class Folder {
 public:
  Folder(Session& session, const Fact& fact)
      : session_(session), fact_(fact), thread_(find(fact.ids.thread_id)) {}

  // --- session and threads ---

  void operator()(const SessionCreated& p) {
    session_.id = fact_.ids.session;
    session_.title = p.title;
    session_.cwd = p.cwd;
    session_.additional_roots = p.additional_roots;
    session_.metadata = p.metadata;
    session_.params_hash = p.params_hash;
    session_.created_at = fact_.at;
  }
  void operator()(const SessionUpdated& p) {
    if (p.title) session_.title = p.title;
    if (p.metadata) session_.metadata = p.metadata;
    if (p.archived) session_.archived = *p.archived;
  }
  void operator()(const ThreadStarted& p) { start_thread(session_, fact_, p); }
  void operator()(const ThreadUpdated& p) {
    if (!thread_) return;
    thread_->status = p.status;
    thread_->reason = p.reason;
    thread_->resumable = p.resumable;
    if (p.reason == kClosedReason && !thread_->active && thread_->queue.empty()) return close();
    if (!p.boot_id || !thread_->active) return;
    thread_->active->boot = *p.boot_id;
    thread_->active->prepared = false;
  }

  // --- turns and their queue ---

  void operator()(const TurnSubmitted& p) {
    if (!thread_) return;
    Turn turn;
    turn.ids = {fact_.ids.thread_id, fact_.ids.turn_id,    fact_.ids.task_id,
                fact_.ids.run_id,    fact_.ids.attempt_id, fact_.ids.trace_id};
    turn.ids.job = present(fact_.ids.job_id);
    turn.ids.job_item = present(fact_.ids.job_item_id);
    turn.status = p.status;
    turn.source = p.source;
    turn.preview = input_preview(p.input);
    turn.submitted = fact_.sequence;
    turn.submitted_at = fact_.at;
    turn.options = p.options;
    if (p.work) turn.work = Work{.kind = *p.work, .details = p.instructions, .restore = p.restore};
    turn.channel = present(fact_.ids.channel_id);
    turn.trace_sampled = p.trace_sampled;
    // A turn without a task of its own is an attempt of a task that clients know.
    turn.visibility = std::exchange(session_.new_task, {}).value_or(Visibility::foreground);
    ++thread_->turns;
    if (!turn.ids.job) {  // the items of a job are counted by the job
      ++session_.turns;
      session_.traces.push_back(
          {fact_.ids.turn_id, fact_.ids.trace_id, !fact_.ids.trace_id.empty()});
      if (session_.traces.size() > kTracesMax) session_.traces.erase(session_.traces.begin());
    }
    if (p.status == Status::queued) {
      thread_->queue.push_back(std::move(turn));
    } else {
      thread_->status = p.status;
      thread_->active = std::move(turn);
    }
  }
  void operator()(const QueueChanged& p) {
    if (!thread_) return;
    auto& queue = thread_->queue;
    if (p.change == QueueChange::cleared) return queue.clear();
    if (p.change == QueueChange::added) return;
    const auto at = std::ranges::find(queue, p.turn_id, id_of);
    if (at == queue.end()) return;
    if (p.change == QueueChange::removed) {
      queue.erase(at);
    } else if (p.change == QueueChange::promoted) {
      std::rotate(queue.begin(), at, at + 1);
    } else if (p.change == QueueChange::started) {
      thread_->active = std::move(*at);
      queue.erase(at);
    }
  }
  void operator()(const TurnStarted& p) {
    Turn* turn = active();
    if (!turn) return;
    turn->started_at = fact_.at;
    turn->boot = p.boot_id;
    set_status(*turn, Status::running, {}, {});
  }
  void operator()(const RunStatus& p) {
    if (Turn* turn = active())
      set_status(*turn, p.status,
                 p.status == Status::blocked ? std::optional(p.phase) : std::nullopt, p.resumable);
    if (Turn* turn = active(); turn && p.phase == kCompactingPhase && !turn->compaction)
      turn->compaction.emplace().trigger = p.detail.value_or("");
    if (Turn* turn = active()) fold_restore_status(*turn, p);
  }
  void operator()(const TurnCompleted&) {
    if (Turn* turn = active()) {
      turn->status = Status::completed;
      end(*turn);
    }
  }
  void operator()(const TurnFailed& p) {
    Turn* turn = active();
    if (!turn) turn = queued();
    if (!turn) return;
    turn->status = p.status;
    turn->reason = p.reason;
    turn->error = p.error;
    turn->resumable.reset();
    if (p.status != Status::cancelled) incident("turn_failed", p.reason);
    end(*turn);
  }

  // --- tasks: their records are index rows (state/tasks.h); the view counts them ---

  void operator()(const TaskCreated& p) {
    ++session_.tasks.active;
    if (!fact_.ids.turn_id.empty()) session_.new_task = p.visibility;
  }
  void operator()(
      const OneOf<TaskStarted, TaskAccepted, TaskQueued, TaskUpdated, TaskProgress,
                  TaskCancelRequested, TaskArchived, TaskDelegated, TaskDependencyUpdated,
                  TaskWaiting, TaskAttemptStarted, TaskAttemptCompleted, TaskAttemptFailed> auto&) {
  }
  void operator()(const TaskPaused&) {
    if (Turn* turn = active()) turn->pausing = true;
    if (Job* job = job_of_task(session_, fact_.ids.task_id)) job->paused = true;
  }
  // After the end of the task: a command reopens it. By policy, the attempt has ended, not the
  // task.
  void operator()(const TaskRetrying& p) {
    if (p.retry_at || !p.previous_status || !ended(*p.previous_status)) return;
    ++session_.tasks.active;
    if (session_.tasks.failed > 0) --session_.tasks.failed;
  }
  void operator()(const TaskTimedOut&) { task_ended(session_.tasks.failed); }
  void operator()(const TaskLost&) { task_ended(session_.tasks.failed); }
  void operator()(const TaskBlocked& p) {
    if (p.reason == "restart")
      incident("restart", "the runtime stopped while the turn was running");
  }
  void operator()(const TaskResumed& p) {
    Turn* turn = active();
    if (turn && p.reason == kResumedReason) turn->pausing = false;
    if (Job* job = job_of_task(session_, fact_.ids.task_id)) job->paused = false;
    if (turn &&
        (turn->status == Status::waiting_permission || turn->status == Status::waiting_input))
      set_status(*turn, Status::running, {}, {});  // the decision has been made
  }
  void operator()(const TaskCancelled&) { task_ended(session_.tasks.cancelled); }
  void operator()(const TaskFailed&) { task_ended(session_.tasks.failed); }
  void operator()(const TaskCompleted&) { task_ended(session_.tasks.completed); }
  template <class P>
    requires std::is_same_v<typename P::Scope, SubagentScope>
  void operator()(const P& p) {
    fold_subagent(session_, fact_, p);
  }

  void operator()(const ChannelFact auto& p) { fold_channel(session_, fact_, p); }
  void operator()(const JobFact auto& p) { fold_job(session_, active(), fact_, p); }

  // --- models ---

  void operator()(const ModelRequested& p) {
    Turn* turn = active();
    if (!turn) return;
    ModelCall call;
    call.id = fact_.ids.model_request_id;
    call.boot = p.boot_id;
    call.provider = p.provider;
    call.model = p.model;
    call.model_name = p.model_name;
    call.at = fact_.at;
    call.purpose = p.purpose;
    call.catalog = turn->catalog;
    turn->call = std::move(call);
    turn->retry_at.reset();
    if (fold_summary_request(*turn, p)) return;
    turn->requests = p.number;
    note_sent(*thread_, *turn, p);
    turn->answered.reset();
    turn->ended_call.reset();
    session_.greeted = true;
  }
  void operator()(const ModelDelta& p) {
    ModelCall* call = open_call();
    if (!call) return;
    if (call->first_delta == 0) call->first_delta = fact_.sequence;
    call->last_delta = fact_.sequence;
    call->text_bytes += p.text.size();
  }
  void operator()(const ReasoningDelta&) {
    ModelCall* call = open_call();
    if (!call) return;
    if (call->first_reasoning == 0) call->first_reasoning = fact_.sequence;
    call->last_reasoning = fact_.sequence;
  }
  void operator()(const ReasoningSummary&) {}
  void operator()(const ModelCompleted& p) {
    Turn* turn = active();
    if (!turn || fold_summary(*turn, fact_, p)) return;
    std::vector<WrittenCall> written;
    if (turn->call) written = std::move(turn->call->writing);
    turn->call.reset();
    turn->retries = 0;
    turn->after_hooks = 0;
    ++turn->ended_by_provider;
    turn->answer = fact_.sequence;
    const std::string& text = p.text ? *p.text : p.preview.value_or("");
    turn->answer_preview = std::string(utf8_prefix(text, kInputPreviewBytes));
    turn->usage = sum(turn->usage, p.usage);
    add_answer(*thread_, p);
    if (p.tool_calls.empty()) turn->answered = p.stop_reason;
    note_answer(session_, fact_, p);
    turn->tools.clear();
    for (const RequestedCall& asked : p.tool_calls) {
      turn->tools.push_back({.id = asked.tool_call_id,
                             .tool = asked.name,
                             .args = asked.args,
                             .args_omitted = asked.args_omitted.value_or(false),
                             .wrong = asked.wrong});
      const auto item = std::ranges::find(written, asked.tool_call_id, &WrittenCall::id);
      if (item != written.end()) turn->tools.back().step = item->step;
    }
  }
  void operator()(const ModelFailed& p) {
    Turn* turn = active();
    if (!turn) return;
    turn->call.reset();
    if (p.ended_by_provider) ++turn->ended_by_provider;
    if (p.cause == FaultCause::context_size) turn->overflowed = true;
    if (p.retry) {
      turn->retries = p.retry->number;
      turn->retry_at = p.retry->at;
    }
    if (p.error.category != Category::cancelled) incident("model_failed", p.error.message);
  }

  // --- preparation of a turn ---

  void operator()(const ContextResolved& p) {
    Turn* turn = active();
    if (!turn) return;
    turn->prepared = true;
    resolve_context(*thread_, *turn, fact_, p);
    note_stored(session_, p);
  }
  void operator()(const ToolCatalogResolved& p) {
    resolve_catalog(session_, active(), fact_.sequence, p);
  }
  void operator()(const OneOf<CompactionStarted, CompactionCompleted, CompactionFailed> auto& p) {
    if (Turn* turn = active()) fold_compaction(*thread_, *turn, fact_.sequence, p);
  }
  void operator()(const HistoryWindowLoaded&) {}
  void operator()(const OneOf<HistoryReconstructed, RollbackStarted> auto&) {}
  void operator()(const RollbackCompleted& p) {
    if (thread_) fold_rollback(*thread_, fact_, p);
  }
  void operator()(const TaskProfileResolved&) {}
  void operator()(const RoutingCandidatesResolved& p) { resolve_candidates(active(), p); }
  void operator()(const RoutingDecided& p) { fold_routing(session_, active(), p, false); }
  void operator()(const RoutingSingleCandidate& p) { fold_routing(session_, active(), p, true); }
  void operator()(const RoutingNotPossible& p) { fold_routing(session_, active(), p, false); }
  void operator()(const RoutingFallbackApplied& p) { fold_fallback(session_, active(), p); }

  // --- items ---

  void operator()(const ItemStarted& p) {
    if (ToolCall* call = open_tool()) call->step = fact_.ids.step_id;
    Turn* turn = active();
    if (!turn || fold_restore_call(*turn, fact_, p)) return;
    if (!fact_.ids.tool_call_id.empty() && turn->call && turn->tools.empty())
      return turn->call->writing.push_back(
          {fact_.ids.step_id, fact_.ids.tool_call_id, p.tool_name.value_or("")});
    std::optional<StepId>* item = item_of(*turn, p.kind);
    if (!item) return;
    *item = fact_.ids.step_id;
    turn->item_at = fact_.at;
  }
  void operator()(const ItemUpdated& p) {
    Turn* turn = active();
    if (turn && p.kind == ItemKind::agent_message) turn->item_at = fact_.at;
  }
  void operator()(const ItemCompleted& p) {
    Turn* turn = active();
    if (turn && turn->ended_call && turn->ended_call->id == fact_.ids.tool_call_id)
      turn->ended_call->error = p.error;
    if (std::optional<StepId>* item = turn ? item_of(*turn, p.kind) : nullptr) item->reset();
  }

  // --- tools and their processes ---

  void operator()(const ToolStarted& p) {
    ToolCall* call = open_tool();
    if (!call) return;
    start(*call, p, fact_.ids.step_id, fact_.at);
    // A command that is bound to files is permitted when its process exists: then they are copied.
    if (active()->item && !call->digest) permit_command(session_, *active(), *call);
  }
  void operator()(const ToolArgs&) {}
  void operator()(const ToolProgress& p) {
    ToolCall* call = open_tool();
    if (call && p.change) call->change = p.change;
    if (!call || !p.stopped_by) return;
    call->stage = CallStage::stopped;
    call->stopped = p;
    call->process.reset();
    call->process_boot.reset();
  }
  void operator()(const ArtifactChanged&) {}
  void operator()(const ToolResult& p) {
    if (active()) add_to_context(*thread_, p.preview.value_or("").size());
    tool_ended(p.is_error, p.preview.value_or(""), p.output_ref);
  }
  void operator()(const ToolFailed& p) {
    if (active()) add_to_context(*thread_, p.error.message.size() + p.preview.value_or("").size());
    if (p.error.category != Category::cancelled) incident("tool_failed", p.error.message);
    const bool has_output = p.output_refs && !p.output_refs->empty();
    tool_ended(true, p.error.message,
               has_output ? std::optional(p.output_refs->front()) : std::nullopt);
  }

  // --- decisions ---

  void operator()(const PermissionEvaluated& p) {
    ToolCall* call = open_tool();
    if (call && p.decision == Decision::allow && p.digest) call->digest = p.digest;
    if (call && p.decision == Decision::ask) call->chain = p.chain;
    if (p.decision != Decision::ask)
      count_decision(session_, thread_, p.decision_source, p.decision);
  }
  void operator()(const PermissionRequested&) {}
  void operator()(const PermissionResolved& p) {
    ToolCall* call = open_tool();
    if (call && p.decision == Decision::allow) allow(*call, p.digest);
    count_decision(session_, thread_, p.decision_source, p.decision);
  }
  void operator()(const ActionRequired& p) {
    Turn* turn = active();
    if (!turn) return;
    ToolCall* call = open_tool();
    const bool permission = call && p.action_type == kPermissionAction;
    turn->action = Action{.id = fact_.ids.action_id,
                          .call = present(fact_.ids.tool_call_id),
                          .step = fact_.ids.step_id,
                          .sequence = fact_.sequence,
                          .at = fact_.at,
                          .required = p,
                          .chain = permission ? std::exchange(call->chain, {}) : std::nullopt};
  }
  void operator()(const ActionResolved& p) {
    Turn* turn = active();
    if (!turn || !turn->action || turn->action->id != fact_.ids.action_id) return;
    if (turn->action->required.action_type == kTrustAction && p.decision != "allow")
      session_.trust_refused = turn->action->required.digest;
    ToolCall* call = open_tool();
    if (call && turn->action->required.action_type == kElicitationAction) answer_server(*call, p);
    turn->resolved = std::exchange(turn->action, std::nullopt);
  }
  void operator()(const PolicyChanged& p) { change_policy(session_, fact_, p); }
  void operator()(const HookStarted& p) {
    Turn* turn = active();
    if (!turn) return;
    turn->hook = HookRun{.id = p.hook_run_id.value_or(""),
                         .point = p.point,
                         .index = p.index.value_or(0),
                         .hook = {},
                         .call = present(fact_.ids.tool_call_id),
                         .step = fact_.ids.step_id,
                         .boot = p.boot_id.value_or(BootId{})};
    const auto& hooks = policy_of(session_, fact_.ids.thread_id).hooks;
    if (turn->hook->index < hooks.size()) turn->hook->hook = hooks[turn->hook->index];
  }
  void operator()(const HookCompleted& p) {
    hook_ended(p.point);
    ToolCall* call = open_tool();
    if (p.point == HookPoint::stop && p.block.value_or(false))
      if (Turn* turn = active()) ++turn->stops_refused;
    if (call) hear_hook(*call, p);
  }
  void operator()(const HookFailed& p) {
    hook_ended(p.point);
    if (p.on_failure != OnFailure::closed) return;
    if (Turn* turn = active(); turn && p.point == HookPoint::stop) ++turn->stops_refused;
    if (ToolCall* call = open_tool())
      call->said.push_back({DecisionSource::hook, Decision::deny, std::nullopt,
                            "a hook failed: " + (p.error ? p.error->message : std::string())});
  }
  void operator()(const SandboxApplied&) {}
  void operator()(const SandboxViolation& p) {
    incident("sandbox_violation", p.attempted);
    count_violation(session_, thread_, fact_, p);
    ToolCall* call = open_tool();
    if (call && !p.advisory.value_or(false)) ++call->violations;
  }
  void operator()(const ProcessStarted& p) {
    if (p.background.value_or(false)) return add_process(session_, fact_, p);
    ToolCall* call = open_tool();
    if (!call) return;
    call->process = fact_.ids.process_id;
    call->process_boot = p.boot_id;
    if (active()->item) permit_command(session_, *active(), *call);
  }
  void operator()(const ProcessOutput& p) {
    if (Process* process = process_of(session_, fact_)) show_output(*process, p);
  }
  void operator()(const ProcessInput& p) {
    if (Process* process = process_of(session_, fact_)) take_input(*process, p);
  }
  void operator()(const ProcessCompleted& p) {
    end_process(session_, fact_, ProcessStatus::completed, p.exit_code);
  }
  void operator()(const ProcessFailed& p) {
    if (p.error && process_of(session_, fact_)) incident("process_failed", p.error->message);
    if (ToolCall* call = open_tool(); call && p.never_ran.value_or(false)) {
      ++call->never_ran;
      call->process.reset();
      call->process_boot.reset();
    }
    end_process(session_, fact_, ProcessStatus::failed);
  }
  void operator()(const ProcessTerminated&) {
    end_process(session_, fact_, ProcessStatus::terminated);
  }

  // --- facts about the runtime itself ---

  void operator()(const SnapshotUpdated& p) { session_.snapshot = p.as_of_sequence; }
  void operator()(const SnapshotRepaired&) {}
  void operator()(const RuntimeWarning& p) {
    Process* process = process_of(session_, fact_);
    if (!process || !p.boot_id) return incident("warning", p.message);
    process->boot = *p.boot_id;
  }
  void operator()(const RuntimeError& p) { incident("error", p.message); }
  // Outputs are found through their index rows; views do not contain them.
  void operator()(const OutputSpilled&) {}
  void operator()(const OutputTruncated&) {}
  void operator()(const OutputRedacted&) {}
  void operator()(const OutputExpired&) {}
  void operator()(const UnknownPayload&) { ++session_.unknown_facts; }

 private:
  Thread* find(const ThreadId& id) {
    if (id.empty()) return nullptr;
    const auto at = session_.threads.find(id);
    return at == session_.threads.end() ? nullptr : &at->second;
  }
  Turn* active() {
    if (!thread_ || !thread_->active || thread_->active->ids.turn != fact_.ids.turn_id)
      return nullptr;
    return &*thread_->active;
  }
  Turn* queued() {
    if (!thread_) return nullptr;
    const auto at = std::ranges::find(thread_->queue, fact_.ids.turn_id, id_of);
    return at == thread_->queue.end() ? nullptr : &*at;
  }
  void task_ended(std::uint64_t& count) {
    if (session_.tasks.active > 0) --session_.tasks.active;
    ++count;
  }
  void close() {
    session_.closed_thread = std::move(*thread_);
    session_.threads.erase(fact_.ids.thread_id);
    thread_ = nullptr;
    ++session_.threads_closed;
  }
  // The open item of the model's own text. Items of tools belong to their calls.
  static std::optional<StepId>* item_of(Turn& turn, ItemKind kind) {
    if (kind == ItemKind::reasoning) return &turn.reasoning_item;
    return kind == ItemKind::agent_message ? &turn.message_item : nullptr;
  }
  ToolCall* open_tool() {
    Turn* turn = active();
    if (!turn) return nullptr;
    const auto at = std::ranges::find(turn->tools, fact_.ids.tool_call_id, &ToolCall::id);
    return at == turn->tools.end() ? nullptr : &*at;
  }
  void tool_ended(bool failed, const std::string& preview, std::optional<std::string> output_ref) {
    Turn* turn = active();
    const ToolCall* call = open_tool();
    if (!call) return;
    if (!call->refused || turn->item) {
      turn->after_hooks = 0;
      turn->ended_call = EndedCall{.id = call->id,
                                   .step = call->step,
                                   .tool = call->tool,
                                   .args = call->args,
                                   .failed = failed,
                                   .preview = std::string(utf8_prefix(preview, kPreviewKeptBytes)),
                                   .error = {},
                                   .output_ref = std::move(output_ref),
                                   .refused = call->refused};
    }
    std::erase_if(turn->tools,
                  [&](const ToolCall& each) { return each.id == fact_.ids.tool_call_id; });
  }
  void hook_ended(HookPoint point) {
    Turn* turn = active();
    if (!turn || !turn->hook) return;
    const std::uint64_t next = turn->hook->index + 1;
    turn->hook.reset();
    if (point == HookPoint::session_start || point == HookPoint::user_prompt_submit)
      turn->start_hooks = next;
    else if (point >= HookPoint::post_tool_use)
      turn->after_hooks = next;
    ToolCall* call = open_tool();
    if (call && point == HookPoint::pre_tool_use) call->pre_hooks = next;
    if (call && point == HookPoint::permission_request) call->permission_hooks = next;
  }
  template <class AnyId>
  static std::optional<AnyId> present(const AnyId& id) {
    return id.empty() ? std::nullopt : std::optional(id);
  }
  ModelCall* open_call() {
    Turn* turn = active();
    return turn && turn->call && turn->call->id == fact_.ids.model_request_id ? &*turn->call
                                                                              : nullptr;
  }
  void set_status(Turn& turn, Status status, std::optional<std::string> reason,
                  std::optional<bool> resumable) {
    turn.status = thread_->status = status;
    turn.reason = thread_->reason = reason;
    turn.resumable = thread_->resumable = resumable;
  }
  // A queued turn stays in the queue until queue.changed removes it.
  void end(Turn& turn) {
    turn.ended_at = fact_.at;
    turn.end_sequence = fact_.sequence;
    turn.call.reset();
    turn.tools.clear();
    turn.action.reset();
    turn.resolved.reset();
    turn.hook.reset();
    turn.ended_call.reset();
    turn.retry_at.reset();
    turn.candidates.clear();
    turn.digest = {};
    if (&turn != (thread_->active ? &*thread_->active : nullptr)) return;
    thread_->last = std::move(turn);
    thread_->active.reset();
    thread_->status = Status::idle;
    thread_->reason.reset();
    thread_->resumable.reset();
  }
  void incident(std::string kind, const std::string& message) {
    if (!thread_) return;
    auto& incidents = thread_->incidents;
    incidents.push_back({fact_.sequence, fact_.at, std::move(kind),
                         std::string(utf8_prefix(message, kInputPreviewBytes)), fact_.ids.turn_id});
    if (incidents.size() > kIncidentsMax) incidents.erase(incidents.begin());
  }

  Session& session_;
  const Fact& fact_;
  Thread* thread_;
};

}  // namespace

void fold(Session& session, const Fact& fact) {
  check(fact.sequence == session.sequence + 1, "facts are folded in order, without a gap");
  note_span(session, fact);
  note_said(session, fact);
  std::visit(Folder{session, fact}, fact.payload);
  session.sequence = fact.sequence;
  session.at = fact.at;
}

}  // namespace agentrt::state
