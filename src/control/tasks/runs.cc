// control/tasks/runs.cc: decides how attempts of tasks start, report and end.
#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "control/jobs/jobs.h"
#include "control/tasks/task_facts.h"

namespace agentrt::control {

using namespace schema;
using state::Task;

namespace {

TaskReply reply_of(const Session& view, const TaskId& task, TaskStatus status) {
  return {.session_id = view.id,
          .task_id = task,
          .status = status,
          .retry_at = std::nullopt,
          .sequence = view.sequence};
}

RunReply reply_of(const Session& view, const Task& task, const Run& run) {
  RunReply reply;
  reply.session_id = view.id;
  reply.task_id = task.task_id;
  reply.status = run.status;
  reply.run_id = run.run;
  reply.attempt_id = run.attempt;
  reply.attempt_count = run.count;
  return reply;
}

TaskWorker default_worker(const Task& task) {
  if (task.thread_id) return {WorkerKind::turn, task.thread_id, {}, {}};
  return {WorkerKind::external, {}, {}, {}};
}

std::optional<Error> wrong_worker(const TaskWorker& worker) {
  const auto unexpected = [](std::string_view member, WorkerKind kind) {
    return Error{
        Code::invalid_params,
        fmt::format("worker.{}: a worker of kind {} has no such member", member, name_of(kind)),
        {}};
  };
  if (worker.kind == WorkerKind::job && !worker.job_id)
    return Error{Code::invalid_params,
                 "worker.jobId: expected the id of a job; create_job creates one for a task",
                 {}};
  if (worker.kind != WorkerKind::job && worker.job_id) return unexpected("jobId", worker.kind);
  if (worker.kind != WorkerKind::turn && worker.thread_id)
    return unexpected("threadId", worker.kind);
  if (worker.kind != WorkerKind::external && worker.name) return unexpected("name", worker.kind);
  return std::nullopt;
}

bool startable(const Task& task) {
  using enum TaskStatus;
  return task.status == accepted || task.status == queued ||
         (task.status == blocked &&
          (task.status_reason == "dependency" || task.status_reason == "acceptance"));
}

Decided queue_blocked(const Session& view, const Task& task, const TaskWorker& worker,
                      std::vector<TaskId> blockers, Facts& facts, const Inputs& inputs) {
  RunReply reply;
  reply.session_id = view.id;
  reply.task_id = task.task_id;
  reply.status = TaskStatus::queued;
  reply.blockers = std::move(blockers);
  reply.sequence = view.sequence;
  if (task.status == TaskStatus::queued && task.next_worker == worker && facts.empty())
    return Unchanged{to_json(reply)};
  facts.add(TaskScope{inputs.session, task.task_id},
            TaskQueued{.reason = "dependency", .worker = worker});
  return accept(facts, std::move(reply));
}

Decided start_with(const Session& view, const Task& task, const TaskWorker& worker, Facts& facts,
                   Inputs& inputs) {
  const std::vector<TaskId> blockers = blockers_of(task);
  if (!blockers.empty()) {
    if (worker.kind == WorkerKind::external) return still_blocked(task, blockers);
    return queue_blocked(view, task, worker, blockers, facts, inputs);
  }
  auto run = start_attempt(facts, view, task, worker, inputs);
  if (!run) return std::move(run).error();
  return accept(facts, reply_of(view, task, *run));
}

}  // namespace

Decided start_task(const Session& view, const StartTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  const TaskWorker worker = command.worker.value_or(default_worker(task));
  if (auto error = wrong_worker(worker)) return *error;
  if (auto error = needs_approver(task.constraints, inputs)) return *error;
  if (auto error = beneath_cancelled(&task, inputs)) return *error;
  if (taken(view, task) || !startable(task)) return wrong_state(task, "started");
  if (auto error = job_waits_for(view, task.task_id, worker.job_id)) return *error;
  Facts facts{view, inputs};
  return start_with(view, task, worker, facts, inputs);
}

Decided retry_task(const Session& view, const RetryTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  TaskWorker worker = default_worker(task);
  if (command.worker)
    worker = *command.worker;
  else if (!task.attempts.empty())
    worker = task.attempts.back().worker;
  if (auto error = wrong_worker(worker)) return *error;
  if (auto error = needs_approver(task.constraints, inputs)) return *error;
  if (auto error = beneath_cancelled(&task, inputs)) return *error;
  const bool waits = task.status == TaskStatus::retrying && !task.current_run_id;
  if (!retryable_end(task.status) && !waits) return wrong_state(task, "retried");
  Facts facts{view, inputs};
  if (!waits)
    facts.add(
        TaskScope{inputs.session, task.task_id},
        TaskRetrying{.reason = command.reason, .previous_status = task.status, .worker = worker});
  return start_with(view, task, worker, facts, inputs);
}

Decided claim_task(const Session& view, const ClaimTask& command, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
  if (command.worker.kind != WorkerKind::external)
    return refuse(Code::invalid_params,
                  "worker.kind: expected external; start_task starts a turn or a job");
  if (auto error = wrong_worker(command.worker)) return *error;
  if (command.wait_ms && (*command.wait_ms < 0 || *command.wait_ms > kClaimWaitMaxMs))
    return refuse(Code::invalid_params, fmt::format("waitMs: expected 0 to {}", kClaimWaitMaxMs));
  const Task* oldest = nullptr;
  for (const auto& list : inputs.named.lists)
    for (const TaskId& id : list)
      if (const Task* task = task_of(inputs, id);
          task && is_free(*task) && !beneath_cancelled(task, inputs) &&
          !needs_approver(task->constraints, inputs) && (!oldest || task->first < oldest->first))
        oldest = task;
  if (!oldest) {
    RunReply none;
    none.sequence = view.sequence;
    return Unchanged{to_json(none)};
  }
  Facts facts{view, inputs};
  auto run = start_attempt(facts, view, *oldest, command.worker, inputs);
  if (!run) return std::move(run).error();
  RunReply reply = reply_of(view, *oldest, *run);
  reply.objective = oldest->objective;
  return accept(facts, std::move(reply));
}

Decided append_task_progress(const Session& view, const AppendTaskProgress& command,
                             Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (auto error = other_run(task, command.run_id)) return *error;
  const ProgressNote note = command.progress.value_or(ProgressNote{});
  for (const auto& [json, member] : {std::pair{note.counters, "progress.counters"},
                                     std::pair{note.validation, "progress.validation"}})
    if (json && !json->text.starts_with('{'))
      return refuse(Code::invalid_params, fmt::format("{}: expected an object", member));
  TaskProgress progress{.phase = note.phase,
                        .step = note.step,
                        .counters = note.counters,
                        .validation = note.validation,
                        .output_refs = command.output_refs,
                        .delivery_state = command.delivery_state};
  if (progress == TaskProgress{})
    return Unchanged{to_json(reply_of(view, task.task_id, task.status))};
  Facts facts{view, inputs};
  facts.add(TaskScope{inputs.session, task.task_id}, std::move(progress));
  return accept(facts, reply_of(view, task.task_id, task.status));
}

namespace {

// "artifact bin: there is no artifact of this name; statement tested: …"
std::string told(const std::vector<MissingCondition>& missing) {
  constexpr std::size_t kNamed = 3;
  std::string out;
  for (const MissingCondition& each : missing | std::views::take(kNamed)) {
    const bool named = !each.name.empty() && each.name != name_of(each.kind);
    out += fmt::format("{}{}{}{}: {}", out.empty() ? "" : "; ", name_of(each.kind),
                       named ? " " : "", named ? each.name : "", each.reason);
  }
  if (missing.size() > kNamed) out += fmt::format("; and {} more", missing.size() - kNamed);
  return out;
}

std::optional<Error> not_completable(const Task& task, const CompleteTask& command) {
  if (command.run_id) {
    if (auto error = other_run(task, *command.run_id)) return error;
  } else if (task.current_run_id) {
    return Error{Code::conflict,
                 fmt::format("task {} has an open attempt: name its runId", task.task_id.text()),
                 fmt::format(R"({{"status":"{}","runId":{}}})", name_of(task.status),
                             to_json(*task.current_run_id))};
  }
  const state::TaskAttempt* attempt = open_attempt(task);
  if (attempt && attempt->worker.kind != WorkerKind::external)
    return Error{Code::conflict,
                 fmt::format("task {} is worked on by a {}, whose end ends the attempt",
                             task.task_id.text(), name_of(attempt->worker.kind)),
                 fmt::format(R"({{"status":"{}"}})", name_of(task.status))};
  const bool settles = task.status == TaskStatus::cancelling;
  if (!settles && !may_move(task.status, TaskStatus::completed))
    return wrong_state(task, "completed");
  return std::nullopt;
}

}  // namespace

Decided complete_task(const Session& view, const CompleteTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (auto error = not_completable(task, command)) return *error;
  const TaskScope scope{inputs.session, task.task_id};
  Facts facts{view, inputs};
  const auto end_attempt = [&] {
    if (const state::TaskAttempt* attempt = open_attempt(task))
      facts.add(AttemptScope{scope, attempt->run_id, attempt->attempt_id},
                TaskAttemptCompleted{.summary = command.summary,
                                     .output_refs = command.output_refs,
                                     .duration_ms = facts.since(attempt->started_at)});
  };
  if (task.status == TaskStatus::cancelling) {
    end_attempt();
    facts.task_cancels(scope, task.status_reason.value_or("cancelled"));
    const bool waits = task.children_open > 0;
    return accept(facts, reply_of(view, task.task_id,
                                  waits ? TaskStatus::cancelling : TaskStatus::cancelled));
  }
  if (const auto missing = unmet(task, command, inputs.named.missing_refs); !missing.empty())
    return refuse(
        Code::conflict,
        fmt::format("task {} cannot be completed: {}", task.task_id.text(), told(missing)),
        fmt::format(R"({{"status":"{}","missing":{}}})", name_of(task.status), to_json(missing)));
  end_attempt();
  facts.add(scope, TaskCompleted{.summary = command.summary,
                                 .output_refs = command.output_refs,
                                 .artifacts = command.artifacts,
                                 .evidence_refs = command.evidence_refs,
                                 .satisfied = command.satisfied,
                                 .delivery_state = command.delivery_state});
  return accept(facts, reply_of(view, task.task_id, TaskStatus::completed));
}

Decided fail_task(const Session& view, const FailTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (auto error = other_run(task, command.run_id)) return *error;
  const state::TaskAttempt& attempt = *open_attempt(task);
  if (attempt.worker.kind != WorkerKind::external)
    return refuse(Code::conflict,
                  fmt::format("task {} is worked on by a {}: cancel the task or interrupt the turn",
                              task.task_id.text(), name_of(attempt.worker.kind)),
                  fmt::format(R"({{"status":"{}"}})", name_of(task.status)));
  const TaskScope scope{inputs.session, task.task_id};
  const bool cancels = task.status == TaskStatus::cancelling;
  Facts facts{view, inputs};
  facts.add(AttemptScope{scope, attempt.run_id, attempt.attempt_id},
            TaskAttemptFailed{.status = cancels ? Status::cancelled : Status::failed,
                              .error = command.error,
                              .duration_ms = facts.since(attempt.started_at)});
  facts.task_fails(scope, command.error);
  TaskReply reply = reply_of(view, task.task_id, TaskStatus::failed);
  if (cancels) {
    reply.status = task.children_open > 0 ? TaskStatus::cancelling : TaskStatus::cancelled;
  } else if (const auto retry = retry_of(task, command.error, TaskStatus::failed, inputs)) {
    reply.status = TaskStatus::retrying;
    reply.retry_at = inputs.now + retry->after_ms;
  }
  return accept(facts, std::move(reply));
}

Decided pause_task(const Session& view, const PauseTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (task.status == TaskStatus::paused)
    return Unchanged{to_json(reply_of(view, task.task_id, task.status))};
  if (!task.current_run_id || !may_move(task.status, TaskStatus::paused))
    return wrong_state(task, "paused");
  Facts facts{view, inputs};
  const Turn* turn = turn_of(view, task);
  const TaskPaused paused{.reason = command.reason};
  if (turn && turn->ids.run == *task.current_run_id)
    facts.add(facts.of(turn->ids), paused);
  else
    facts.add(TaskScope{inputs.session, task.task_id}, paused);
  return accept(facts, reply_of(view, task.task_id, TaskStatus::paused));
}

Decided resume_task(const Session& view, const ResumeTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (task.status == TaskStatus::running && task.current_run_id)
    return Unchanged{to_json(reply_of(view, task.task_id, task.status))};
  if (auto error = needs_approver(task.constraints, inputs)) return *error;
  if (auto error = beneath_cancelled(&task, inputs)) return *error;
  const Turn* turn = turn_of(view, task);
  const Thread* thread = turn ? find_thread(view, turn->ids.thread) : nullptr;
  Facts facts{view, inputs};
  if (turn && thread->status == Status::blocked && thread->resumable.value_or(false)) {
    facts.resume(*turn);
  } else if (task.status != TaskStatus::paused || !task.current_run_id) {
    return wrong_state(task, "resumed");
  } else if (turn) {
    facts.add(facts.of(turn->ids), TaskResumed{.reason = "resumed"});
  } else {
    facts.add(TaskScope{inputs.session, task.task_id}, TaskResumed{.reason = "resumed"});
  }
  return accept(facts, reply_of(view, task.task_id, TaskStatus::running));
}

Decided cancel_task(const Session& view, const CancelTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (task.status == TaskStatus::cancelling || task.status == TaskStatus::cancelled)
    return Unchanged{to_json(reply_of(view, task.task_id, task.status))};
  if (ended(task.status)) return wrong_state(task, "cancelled");
  Facts facts{view, inputs};
  facts.request_cancel(task, command.reason, command.propagate.value_or(true));
  const bool ends = std::ranges::any_of(facts.list(), [&](const Draft& draft) {
    return std::holds_alternative<TaskCancelled>(draft.payload) &&
           draft.ids.task_id == task.task_id;
  });
  return accept(
      facts, reply_of(view, task.task_id, ends ? TaskStatus::cancelled : TaskStatus::cancelling));
}

}  // namespace agentrt::control
