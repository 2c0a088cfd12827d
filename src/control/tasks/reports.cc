// control/tasks/reports.cc: decides what follows when the time limit of a task has passed, when its
// worker is silent, and when its end concerns other tasks. Also what decisions about tasks read.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/jobs/jobs.h"
#include "control/subagents/subagents.h"
#include "control/tasks/task_facts.h"
#include "schema/admission.h"

namespace agentrt::control {

using namespace schema;
using state::Task;

namespace {

// The smaller of the remaining times by the wall clock and by elapsed time.
bool passed(const std::optional<state::TaskTimer>& timer, const Inputs& inputs) {
  if (!timer) return false;
  return timer->at <= inputs.now || inputs.since(timer->set_at) >= timer->within_ms;
}

// Ends what works on the task because of a time limit.
void time_out(Facts& facts, const Session& view, const Task& task, bool whole_task,
              const Inputs& inputs) {
  const std::string reason =
      whole_task ? "the deadline of the task has passed" : "the attempt has reached its time limit";
  const TaskScope scope{inputs.session, task.task_id};
  if (const state::Job* job = job_of_task(view, task.task_id))
    return end_job(facts, view, *job, {Category::timeout, reason, true}, inputs,
                   whole_task ? TaskEnd::deadline : TaskEnd::timeout);
  if (const Turn* turn = turn_of(view, task)) {
    const Thread& thread = *find_thread(view, turn->ids.thread);
    std::vector<TurnId> ended;
    if (thread.active && &*thread.active == turn) end_below(facts, view, thread.id, reason, ended);
    facts.time_out(*turn, reason, whole_task);
    if (thread.active && &*thread.active == turn) return facts.start_next(thread);
    return facts.add(facts.of(turn->ids), QueueChanged{.change = QueueChange::removed,
                                                       .turn_id = turn->ids.turn,
                                                       .position = 0,
                                                       .count = thread.queue.size() - 1});
  }
  const Failure error{Category::timeout, reason, true};
  if (const state::TaskAttempt* attempt = open_attempt(task))
    facts.add(AttemptScope{scope, attempt->run_id, attempt->attempt_id},
              TaskAttemptFailed{.status = Status::timed_out,
                                .error = error,
                                .duration_ms = facts.since(attempt->started_at)});
  if (whole_task) return facts.add(scope, TaskTimedOut{.reason = "deadline"});
  facts.task_fails(scope, error, TaskStatus::timed_out);
}

// Starts the next attempt. An external worker has to claim it.
void start_next_attempt(Facts& facts, const Session& view, const Task& task, Inputs& inputs) {
  const TaskScope scope{inputs.session, task.task_id};
  const TaskWorker worker = task.next_worker.value_or(TaskWorker{});
  if (!blockers_of(task).empty() && worker.kind != WorkerKind::external)
    return facts.add(scope, TaskQueued{.reason = "dependency", .worker = worker});
  if (worker.kind == WorkerKind::external) return facts.add(scope, TaskQueued{.reason = "worker"});
  const auto run = start_attempt(facts, view, task, worker, inputs);
  if (run) return;
  if (task.status == TaskStatus::retrying) facts.add(scope, TaskQueued{.reason = "slot"});
  facts.add(scope, TaskStarted{});
  facts.add(scope, TaskFailed{.error = {Category::unavailable, run.error().message, true}});
}

// The external worker did not confirm the cancellation in time.
void give_up_worker(Facts& facts, const Task& task, const Inputs& inputs) {
  const TaskScope scope{inputs.session, task.task_id};
  if (const state::TaskAttempt* attempt = open_attempt(task))
    facts.add(AttemptScope{scope, attempt->run_id, attempt->attempt_id},
              TaskAttemptFailed{
                  .status = Status::lost,
                  .error = {Category::lost, "the worker did not confirm the cancellation", false},
                  .duration_ms = facts.since(attempt->started_at)});
  facts.task_cancels(scope, task.status_reason.value_or("cancelled"));
}

// One page of tasks that waited for this one.
void unblock(Facts& facts, const Task& task, const std::vector<TaskId>& page,
             const Inputs& inputs) {
  for (const TaskId& id : page) {
    const Task* waiting = task_of(inputs, id);
    if (!waiting) continue;
    const std::vector<TaskId> blockers = blockers_of(*waiting);
    if (std::ranges::find(blockers, task.task_id) == blockers.end()) continue;
    const TaskScope scope{inputs.session, id};
    facts.add(scope,
              TaskDependencyUpdated{.relationship = std::string(name_of(EdgeKind::blocked_by)),
                                    .target_id = task.task_id.text(),
                                    .status = std::string(name_of(EdgeStatus::satisfied))});
    if (waiting->status == TaskStatus::blocked && waiting->status_reason == "dependency" &&
        blockers.size() == 1)
      facts.add(scope, TaskAccepted{.reason = "dependency"});
  }
}

// One page of children that must be cancelled with the task. Without propagation these are the ones
// that have not started, because nothing may start beneath the task any more.
void cancel_children(Facts& facts, const Session& view, const Task& task,
                     const std::vector<TaskId>& page, const Inputs& inputs) {
  const bool propagates = task.propagates.value_or(true);
  std::set<ThreadId> touched;  // a decision changes the queue of a thread once
  for (const TaskId& id : page) {
    const Task* child = task_of(inputs, id);
    if (!child || ended(child->status) || child->status == TaskStatus::cancelling) continue;
    if (!propagates && !is_idle(*child)) continue;
    if (const Turn* turn = turn_of(view, *child)) {
      std::vector<ThreadId> concerned = threads_below(view, turn->ids.thread);
      concerned.push_back(turn->ids.thread);
      if (std::ranges::any_of(concerned, [&](const ThreadId& id) { return touched.contains(id); }))
        continue;
      touched.insert(concerned.begin(), concerned.end());
    }
    facts.request_cancel(*child, fmt::format("task {} was cancelled", task.task_id.text()),
                         propagates);
  }
}

// Its children have ended, so nothing may be missing any more.
void settle_acceptance(Facts& facts, const Task& task, const Inputs& inputs) {
  const TaskScope scope{inputs.session, task.task_id};
  auto missing = unmet(task, {}, {});
  if (missing.empty())
    facts.add(scope, TaskCompleted{});
  else
    facts.add(scope, TaskBlocked{.reason = "acceptance", .missing = std::move(missing)});
}

}  // namespace

Decided task_due(const Session& view, const ReportTaskDue& report, Inputs inputs) {
  const Task* task = task_of(inputs, report.task);
  if (!task || ended(task->status)) return Unchanged{};
  Facts facts{view, inputs};
  if (passed(task->deadline, inputs))
    time_out(facts, view, *task, true, inputs);
  else if (passed(task->timeout, inputs))
    time_out(facts, view, *task, false, inputs);
  else if (passed(task->grace, inputs))
    give_up_worker(facts, *task, inputs);
  else if (passed(task->retry, inputs) && task->status == TaskStatus::retrying &&
           !beneath_cancelled(task, inputs))
    start_next_attempt(facts, view, *task, inputs);
  return accept(facts);
}

Decided task_silent(const Session& view, const ReportTaskSilent& report, Inputs inputs) {
  const Task* task = task_of(inputs, report.task);
  if (!task || task->current_run_id != report.run || task->status == TaskStatus::cancelling)
    return Unchanged{};
  const std::int64_t interval = heartbeat_of(*task);
  const state::TaskAttempt* attempt = open_attempt(*task);
  if (interval == 0 || !attempt || attempt->worker.kind != WorkerKind::external) return Unchanged{};
  const Failure error{Category::lost,
                      fmt::format("the worker has not reported for {} ms", interval), false};
  const TaskScope scope{inputs.session, task->task_id};
  Facts facts{view, inputs};
  facts.add(
      AttemptScope{scope, attempt->run_id, attempt->attempt_id},
      TaskAttemptFailed{
          .status = Status::lost, .error = error, .duration_ms = facts.since(attempt->started_at)});
  facts.task_fails(scope, error, TaskStatus::lost);
  return accept(facts);
}

Decided task_continues(const Session& view, const ReportTaskContinues& report, Inputs inputs) {
  const Task* task = task_of(inputs, report.task);
  if (!task || !continues(*task) || inputs.named.lists.size() < 3) return Unchanged{};
  Facts facts{view, inputs};
  if (task->status == TaskStatus::completed)
    unblock(facts, *task, inputs.named.lists[0], inputs);
  else if (task->status == TaskStatus::blocked)
    settle_acceptance(facts, *task, inputs);
  else if (task->status == TaskStatus::queued && !beneath_cancelled(task, inputs))
    start_next_attempt(facts, view, *task, inputs);
  else if (task->status == TaskStatus::cancelling && task->children_open > 0)
    cancel_children(facts, view, *task, inputs.named.lists[task->propagates.value_or(true) ? 1 : 2],
                    inputs);
  else if (task->status == TaskStatus::cancelling)
    facts.add(TaskScope{inputs.session, task->task_id},
              TaskCancelled{.reason = task->status_reason.value_or("cancelled")});
  return accept(facts);
}

// --- what decisions read ---

namespace {

constexpr std::size_t kClaimCandidates = 16;

struct ReadTable {
  const Session& view;
  Needs& needs;

  void operator()(const ClaimTask& c) {
    const std::string suffix = c.task_kind ? ":" + *c.task_kind : "";
    needs.lists.push_back({"free" + suffix, kClaimCandidates, true});
    if (c.worker.name)
      needs.lists.push_back({"free@" + *c.worker.name + suffix, kClaimCandidates, true});
  }
  void operator()(const StartTask& c) {
    if (!c.worker) return;
    needs.thread = c.worker->thread_id;
    needs.job = c.worker->job_id;
  }
  void operator()(const RetryTask& c) {
    if (c.worker) needs.thread = c.worker->thread_id;
    if (c.worker && c.worker->job_id)
      needs.job = c.worker->job_id;
    else
      needs.job_of = c.task_id;
  }
  void operator()(const CreateJob& c) { needs.job = c.job_id; }
  void operator()(const CancelJob& c) { needs.job = c.job_id; }
  void operator()(const RetryJobItem& c) {
    needs.job = c.job_id;
    needs.job_item = c.job_item_id;
  }
  void operator()(const SubmitTurn& c) { needs.thread = c.thread_id; }
  void operator()(const ForkThread& c) {
    if (c.new_session_id && *c.new_session_id != c.session_id) return;  // see Named::fork
    needs.thread = c.new_thread_id;
    const Thread* source = find_thread(view, c.thread_id);
    if (c.turn_id)
      needs.ended = c.turn_id;
    else if (source && source->last)
      needs.ended = source->last->ids.turn;
  }
  void operator()(const RollbackThread& c) {
    needs.ended = c.turn_id;
    Needs::Removal removal{
        .thread = c.thread_id,
        .boundaries_from = 0,
        .workspace = view.cwd,
        .additional_roots = view.additional_roots.value_or(std::vector<std::string>{})};
    const Thread* thread = find_thread(view, c.thread_id);
    if (thread && thread->boundaries.size() == state::kBoundariesKept)
      removal.boundaries_from = thread->boundaries.front().sequence;
    needs.removal = std::move(removal);
  }
  void operator()(const CompleteTask& c) {
    for (const TaskArtifact& artifact : c.artifacts.value_or(std::vector<TaskArtifact>{}))
      needs.refs.push_back(artifact.ref);
    for (const std::string& ref : c.evidence_refs.value_or(std::vector<std::string>{}))
      if (!ref.starts_with("log:")) needs.refs.push_back(ref);
  }
  void operator()(const CreateTask& c) {
    if (c.parent_task_id && c.blocked_by && !c.blocked_by->empty())
      needs.walk = Needs::Walk{*c.parent_task_id, *c.blocked_by};
  }
  void operator()(const LinkTasks& c) {
    const TaskId target{c.target_id};
    if (c.kind == EdgeKind::blocked_by || c.kind == EdgeKind::child)
      needs.walk = Needs::Walk{c.task_id, {target}};
    else if (c.kind == EdgeKind::blocks || c.kind == EdgeKind::parent)
      needs.walk = Needs::Walk{target, {c.task_id}};
  }
  void operator()(const ReconnectChannel& c) { needs.channels = {c.channel_id}; }
  void operator()(const DisconnectChannel& c) { needs.channels = {c.channel_id}; }
  void operator()(const LinkPeerTask& c) { needs.peer_task = {c.channel_id, c.task_id}; }
  void operator()(const UpdatePeerTask& c) { needs.peer_task = {c.channel_id, c.task_id}; }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

Needs needs_of(const Session& view, const Command& command) {
  Needs needs;
  needs.tasks = plan_admission(command).tasks;
  std::visit(ReadTable{view, needs}, command);
  return needs;
}

Needs needs_of(const Session& view, const Report& report) {
  Needs needs;
  if (const auto* lost = std::get_if<ReportChannelLost>(&report)) needs.channels = {lost->channel};
  if (const auto* due = std::get_if<ReportChannelDue>(&report)) needs.channels = {due->channel};
  if (std::holds_alternative<ReportRestarted>(report))
    for (const auto& [id, channel] : view.channels)
      if (channel.connected) needs.channels.push_back(id);
  if (const auto* due = std::get_if<ReportTaskDue>(&report)) {
    needs.tasks = {due->task};
    needs.job_of = due->task;
  }
  if (const auto* silent = std::get_if<ReportTaskSilent>(&report)) needs.tasks = {silent->task};
  if (const auto* next = std::get_if<ReportTaskContinues>(&report)) {
    needs.tasks = {next->task};
    needs.job_of = next->task;
    needs.lists = {{"waits=" + next->task.text(), kTaskPageMax, true},
                   {"live=" + next->task.text(), kTaskPageMax, true},
                   {"idle=" + next->task.text(), kTaskPageMax, true}};
  }
  return needs;
}

}  // namespace agentrt::control
