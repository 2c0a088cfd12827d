#include "control/tasks/task_facts.h"

#include <algorithm>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "control/jobs/jobs.h"
#include "control/processes.h"
#include "control/subagents/subagents.h"
#include "policy/laxity.h"

namespace agentrt::control {

using namespace schema;
using state::Task;

namespace {

constexpr std::int64_t kAttemptsMax = 1'000;  // of a retry policy
constexpr std::int64_t kBackoffFactorMax = 100;

bool contains(const std::optional<std::vector<std::string>>& list, const std::string& text) {
  return list && std::ranges::find(*list, text) != list->end();
}

bool has_edge(const Task& task, std::string_view relationship, const std::string& name) {
  return std::ranges::any_of(task.edges, [&](const state::TaskEdge& edge) {
    return edge.relationship == relationship && edge.name == name &&
           edge.status != EdgeStatus::removed;
  });
}

bool has_artifact(const Task& task, const CompleteTask& given, const std::string& name) {
  const auto among = [&](const std::optional<std::vector<TaskArtifact>>& list) {
    return list && std::ranges::any_of(
                       *list, [&](const TaskArtifact& artifact) { return artifact.name == name; });
  };
  return among(task.artifacts) || among(given.artifacts) ||
         has_edge(task, "produced_artifact", name);
}

// Why the criterion is not met; nullopt: it is.
std::optional<std::string> unmet_reason(const Task& task, const CompleteTask& given,
                                        const Acceptance& criterion) {
  const std::string name = criterion.name.value_or("");
  switch (criterion.kind) {
    case AcceptanceKind::artifact:
      if (has_artifact(task, given, name)) return std::nullopt;
      return "there is no artifact of this name";
    case AcceptanceKind::evidence:
      if (contains(task.evidence_refs, name) || contains(given.evidence_refs, name) ||
          has_edge(task, "evidence", name))
        return std::nullopt;
      return "there is no evidence of this name";
    case AcceptanceKind::children:
      if (task.children_completed == task.children) return std::nullopt;
      return fmt::format("{} of {} children are not completed",
                         task.children - std::min(task.children, task.children_completed),
                         task.children);
    case AcceptanceKind::delivery: {
      const auto state = given.delivery_state ? given.delivery_state : task.delivery_state;
      if (state == DeliveryStatus::delivered) return std::nullopt;
      return "the delivery state is not delivered";
    }
    case AcceptanceKind::statement:
      if (contains(task.satisfied, name) || contains(given.satisfied, name)) return std::nullopt;
      return "it is not among the satisfied statements";
  }
  return std::nullopt;
}

}  // namespace

const Task* task_of(const Inputs& inputs, const TaskId& id) {
  return inputs.tasks ? inputs.tasks->find(id) : nullptr;
}

Result<const Task*> named_task(const Session& view, const TaskId& id, const Inputs& inputs) {
  if (const auto other = inputs.named.foreign_tasks.find(id);
      other != inputs.named.foreign_tasks.end())
    return fail(Code::conflict,
                fmt::format("task {} belongs to session {}, not {}: a task graph is in one session",
                            id.text(), other->second.text(), view.id.text()),
                fmt::format(R"({{"sessionId":{},"otherSessionId":{}}})", to_json(view.id),
                            to_json(other->second)));
  if (const Task* task = task_of(inputs, id)) return task;
  return fail(Code::not_found, fmt::format("there is no task {}", id.text()));
}

std::string some_of(const std::vector<TaskId>& tasks) {
  constexpr std::size_t kNamed = 5;
  std::string names;
  for (const TaskId& task : tasks | std::views::take(kNamed))
    names += (names.empty() ? "" : ", ") + task.text();
  if (tasks.size() > kNamed) names += fmt::format(" and {} more", tasks.size() - kNamed);
  return names;
}

Error still_blocked(const Task& task, const std::vector<TaskId>& blockers) {
  return {
      Code::conflict,
      fmt::format("task {} waits until {} completed", task.task_id.text(),
                  some_of(blockers) + (blockers.size() == 1 ? " is" : " are")),
      fmt::format(R"({{"status":"{}","blockers":{}}})", name_of(task.status), to_json(blockers))};
}

Error wrong_state(const Task& task, std::string_view what) {
  return {
      Code::conflict,
      fmt::format("task {} is {}: it cannot be {}", task.task_id.text(), name_of(task.status),
                  what),
      fmt::format(R"({{"taskId":{},"status":"{}"}})", to_json(task.task_id), name_of(task.status))};
}

std::optional<Error> beneath_cancelled(const Task* from, const Inputs& inputs) {
  for (std::size_t depth = 0; from && depth <= inputs.settings->task_depth_max; ++depth) {
    if (from->status == TaskStatus::cancelling || from->status == TaskStatus::cancelled)
      return Error{Code::conflict,
                   fmt::format("task {} is {}: nothing is created or started beneath it",
                               from->task_id.text(), name_of(from->status)),
                   fmt::format(R"({{"taskId":{},"status":"{}"}})", to_json(from->task_id),
                               name_of(from->status))};
    from = from->parent_task_id ? task_of(inputs, *from->parent_task_id) : nullptr;
  }
  return std::nullopt;
}

bool is_beneath(const Task* task, const TaskId& above, const Inputs& inputs) {
  for (std::size_t depth = 0; task && depth <= inputs.settings->task_depth_max; ++depth) {
    if (task->parent_task_id == above) return true;
    task = task->parent_task_id ? task_of(inputs, *task->parent_task_id) : nullptr;
  }
  return false;
}

std::size_t depth_of(const Task* task, const Inputs& inputs) {
  std::size_t depth = 0;
  for (; task && depth <= inputs.settings->task_depth_max; ++depth)
    task = task->parent_task_id ? task_of(inputs, *task->parent_task_id) : nullptr;
  return depth;
}

std::optional<Error> other_run(const Task& task, const RunId& run) {
  if (task.current_run_id == run) return std::nullopt;
  const std::string current =
      task.current_run_id ? fmt::format(R"(,"runId":{})", to_json(*task.current_run_id)) : "";
  return Error{Code::conflict,
               fmt::format("run {} is not the open attempt of task {}: stop working, the attempt "
                           "has ended",
                           run.text(), task.task_id.text()),
               fmt::format(R"({{"status":"{}"{}}})", name_of(task.status), current)};
}

std::optional<Error> needs_approver(const std::optional<TaskConstraints>& constraints,
                                    const Inputs& inputs) {
  if (!constraints || inputs.approver) return std::nullopt;
  TurnOptions options;
  options.mode = constraints->mode;
  options.sandbox = constraints->sandbox;
  if (!policy::approves_in_advance(options)) return std::nullopt;
  return Error{Code::forbidden,
               "a task with this mode or sandbox needs a token with scope approve, because its "
               "turns run calls that otherwise need approval",
               {}};
}

std::vector<MissingCondition> unmet(const Task& task, const CompleteTask& given,
                                    const std::vector<std::string>& missing_refs) {
  std::vector<MissingCondition> out;
  for (const Acceptance& criterion : task.acceptance.value_or(std::vector<Acceptance>{}))
    if (auto reason = unmet_reason(task, given, criterion))
      out.push_back({criterion.kind, criterion.name.value_or(""), *std::move(reason)});
  const auto missing = [&](const std::string& ref) {
    return std::ranges::find(missing_refs, ref) != missing_refs.end();
  };
  for (const TaskArtifact& artifact : given.artifacts.value_or(std::vector<TaskArtifact>{}))
    if (missing(artifact.ref))
      out.push_back({AcceptanceKind::artifact, artifact.name,
                     fmt::format("{} is not stored in this session", artifact.ref)});
  for (const std::string& ref : given.evidence_refs.value_or(std::vector<std::string>{}))
    if (missing(ref))
      out.push_back({AcceptanceKind::evidence, ref, "it is not stored in this session"});
  const auto delivery = given.delivery_state ? given.delivery_state : task.delivery_state;
  if (delivery && *delivery != DeliveryStatus::delivered &&
      *delivery != DeliveryStatus::not_applicable)
    out.push_back(
        {AcceptanceKind::delivery, "deliveryState", fmt::format("it is {}", name_of(*delivery))});
  if (task.children_open > 0)
    out.push_back({AcceptanceKind::children, "children",
                   fmt::format("{} children are open", task.children_open)});
  return out;
}

std::optional<Error> wrong_retry_policy(const RetryPolicy& given) {
  const auto expected = [](std::string_view member, std::int64_t from, std::int64_t to) {
    return Error{Code::invalid_params,
                 fmt::format("retryPolicy.{}: expected {} to {}", member, from, to),
                 {}};
  };
  if (given.max_attempts < 1 || given.max_attempts > kAttemptsMax)
    return expected("maxAttempts", 1, kAttemptsMax);
  const std::uint64_t factor = given.backoff_factor.value_or(1);
  if (factor < 1 || factor > kBackoffFactorMax)
    return expected("backoffFactor", 1, kBackoffFactorMax);
  for (const auto& [value, member] :
       {std::pair{given.backoff_ms, "backoffMs"}, std::pair{given.backoff_max_ms, "backoffMaxMs"}})
    if (value && (*value < 0 || *value > kTaskTimeMaxMs))
      return expected(member, 0, kTaskTimeMaxMs);
  return std::nullopt;
}

std::int64_t backoff_ms(const RetryPolicy& policy, std::uint64_t attempts) {
  std::int64_t delay = policy.backoff_ms.value_or(0);
  const std::int64_t most = policy.backoff_max_ms.value_or(kTaskTimeMaxMs);
  for (std::uint64_t i = 1; i < attempts && delay < most; ++i)
    delay *= static_cast<std::int64_t>(policy.backoff_factor.value_or(1));
  return std::min(delay, most);
}

std::optional<Retry> retry_of(const Task& task, const Failure& error, TaskStatus end,
                              const Inputs& inputs) {
  if (!task.retry_policy || task.attempts.empty() || beneath_cancelled(&task, inputs))
    return std::nullopt;
  const RetryPolicy& policy = *task.retry_policy;
  if (task.attempts_made >= policy.max_attempts) return std::nullopt;
  const bool lost = end == TaskStatus::lost;
  if (lost && !(task.constraints && task.constraints->repeatable.value_or(false)))
    return std::nullopt;
  if (!lost && !error.retryable) return std::nullopt;
  if (policy.non_retryable &&
      std::ranges::find(*policy.non_retryable, error.category) != policy.non_retryable->end())
    return std::nullopt;
  return Retry{backoff_ms(policy, task.attempts_made), task.attempts.back().worker};
}

TurnOptions options_of(const Task& task) {
  TurnOptions options;
  if (!task.constraints) return options;
  options.model = task.constraints->model;
  options.mode = task.constraints->mode;
  options.sandbox = task.constraints->sandbox;
  options.tools = task.constraints->tools;
  return options;
}

const Turn* turn_of(const Session& view, const Task& task) {
  for (const auto& [_, thread] : view.threads) {
    const bool of_job = thread.active && thread.active->item;  // its task is worked on by the job
    if (thread.active && !of_job && thread.active->ids.task == task.task_id) return &*thread.active;
    for (const Turn& turn : thread.queue)
      if (turn.ids.task == task.task_id) return &turn;
  }
  return nullptr;
}

bool taken(const Session& view, const Task& task) {
  return task.current_run_id || turn_of(view, task) != nullptr;
}

std::optional<Error> no_next_attempt(const Session& view, const Task& task, const Inputs& inputs,
                                     WhenBlocked blocked) {
  if (auto error = needs_approver(task.constraints, inputs)) return error;
  if (auto error = beneath_cancelled(&task, inputs)) return error;
  if (auto error = job_waits_for(view, task.task_id, std::nullopt)) return error;
  const auto blockers = blockers_of(task);
  if (!blockers.empty() && blocked == WhenBlocked::refuse) return still_blocked(task, blockers);
  const bool waits = task.status == TaskStatus::accepted || task.status == TaskStatus::queued ||
                     task.status == TaskStatus::retrying || task.status == TaskStatus::blocked ||
                     retryable_end(task.status);
  if (taken(view, task) || !waits) return wrong_state(task, "started");
  return std::nullopt;
}

// --- what the end of an attempt means for its task ---

namespace {

// Whether a submit_turn created the task for its turn: the end of the turn is the end of the task.
bool ends_with_turn(const Task& task) {
  return task.visibility == Visibility::internal && task.task_kind == "turn";
}

}  // namespace

void Facts::task_completes(const TaskScope& scope) {
  const Task* task = task_of(inputs_, scope.ids().task_id);
  if (task && task->status == TaskStatus::cancelling)
    return task_cancels(scope, task->status_reason.value_or("cancelled"));
  if (task && !ends_with_turn(*task))
    if (auto missing = unmet(*task, {}, {}); !missing.empty())
      return add(scope, TaskBlocked{.reason = "acceptance", .missing = std::move(missing)});
  add(scope, TaskCompleted{});
}

void Facts::task_fails(const TaskScope& scope, const Failure& error, TaskStatus end) {
  const Task* task = task_of(inputs_, scope.ids().task_id);
  if (task && task->status == TaskStatus::cancelling)
    return task_cancels(scope, task->status_reason.value_or("cancelled"));
  if (const auto retry = task ? retry_of(*task, error, end, inputs_) : std::nullopt)
    return add(scope, TaskRetrying{.reason = error.message,
                                   .previous_status = end,
                                   .retry_at = inputs_.now + retry->after_ms,
                                   .retry_in_ms = retry->after_ms,
                                   .worker = retry->worker,
                                   .error = error});
  if (end == TaskStatus::lost) return add(scope, TaskLost{.reason = error.message});
  if (end == TaskStatus::timed_out) return add(scope, TaskTimedOut{.reason = "timeout"});
  add(scope, TaskFailed{.error = error});
}

// The open children after these facts: some end, and the edge to their parent is added or removed.
std::uint64_t Facts::children_left(const Task& task) const {
  std::uint64_t left = task.children_open;
  for (const Draft& draft : list_) {
    const bool ends = std::holds_alternative<TaskCancelled>(draft.payload) ||
                      std::holds_alternative<TaskFailed>(draft.payload) ||
                      std::holds_alternative<TaskTimedOut>(draft.payload);
    const Task* child = ends ? task_of(inputs_, draft.ids.task_id) : nullptr;
    if (child && child->parent_task_id == task.task_id && left > 0) --left;
    const auto* edge = std::get_if<TaskDependencyUpdated>(&draft.payload);
    if (!edge || edge->relationship != name_of(EdgeKind::parent) ||
        edge->target_id != task.task_id.text())
      continue;
    if (edge->status == name_of(EdgeStatus::active)) ++left;
    if (edge->status == name_of(EdgeStatus::removed) && left > 0) --left;
  }
  return left;
}

void Facts::task_cancels(const TaskScope& scope, const std::string& reason) {
  const Task* task = task_of(inputs_, scope.ids().task_id);
  if (!task || children_left(*task) == 0) return add(scope, TaskCancelled{.reason = reason});
  const bool requested = std::ranges::find(cancelling_, task->task_id) != cancelling_.end();
  if (task->status != TaskStatus::cancelling && !requested)
    add(scope, TaskCancelRequested{.reason = reason});
}

void Facts::request_cancel(const Task& task, const std::string& reason, bool propagate) {
  const TaskScope scope{inputs_.session, task.task_id};
  const Turn* turn = turn_of(view_, task);
  const Thread* thread = turn ? find_thread(view_, turn->ids.thread) : nullptr;
  const bool runs = thread && thread->active && &*thread->active == turn;
  if (runs && !propagate) adopt_below(*this, view_, *turn, inputs_);
  add(scope, TaskCancelRequested{.reason = reason, .propagate = propagate});
  cancelling_.push_back(task.task_id);
  std::set<TurnId> turns;  // that started background processes
  for (const auto& [_, process] : view_.processes)
    if (process.turn.task == task.task_id) turns.insert(process.turn.turn);
  for (const TurnId& each : turns) end_background(*this, view_, each, reason);
  if (const state::Job* job = job_of_task(view_, task.task_id))
    return end_job(*this, view_, *job, {Category::cancelled, reason, false}, inputs_);
  if (turn) {
    std::vector<TurnId> ended;
    if (runs && propagate) end_below(*this, view_, thread->id, reason, ended);
    if (runs && !propagate) drop_queued_below(*this, view_, *turn, reason, inputs_);
    cancel(*turn, reason);
    if (runs) return start_next(*thread);
    return add(of(turn->ids), QueueChanged{.change = QueueChange::removed,
                                           .turn_id = turn->ids.turn,
                                           .position = 0,
                                           .count = thread->queue.size() - 1});
  }
  if (!task.current_run_id) task_cancels(scope, reason);
}

// --- starting an attempt ---

namespace {

Result<Run> start_turn(Facts& facts, const Session& view, const Task& task,
                       const TaskWorker& worker, Inputs& inputs) {
  const ThreadId id = worker.thread_id ? *worker.thread_id
                      : task.thread_id ? *task.thread_id
                                       : inputs.ids.next<ThreadId>();
  if (auto error = thread_of_job(view, id)) return std::unexpected(*error);
  const Thread* thread = find_thread(view, id);
  if (const state::Subagent* subagent = state::subagent_of(view, id)) {
    if (auto error = input_refusal(view, *subagent, *inputs.settings))
      return std::unexpected(*std::move(error));
    const Attempt made = send_task(facts, view, *subagent, task, inputs.ids, inputs);
    return Run{made.turn.run, made.turn.attempt, task.attempts_made + 1,
               made.queued ? TaskStatus::queued : TaskStatus::running};
  }
  const auto was_there = [&](const state::TaskAttempt& each) {
    return each.worker.thread_id == id;
  };
  if (!thread && (inputs.named.thread_closed || std::ranges::any_of(task.attempts, was_there)))
    return fail(Code::conflict, fmt::format("thread {} is closed: name another worker", id.text()));
  if (!thread && view.threads.size() >= inputs.settings->threads_max)
    return fail(Code::limit_exceeded, fmt::format("the session has reached the limit of {} threads",
                                                  inputs.settings->threads_max));
  const bool queued = thread && thread->active;
  if (queued && thread->queue.size() >= inputs.settings->queue_turns_max)
    return fail(Code::limit_exceeded, fmt::format("the queue of this thread is full: {} turns are "
                                                  "waiting",
                                                  inputs.settings->queue_turns_max));
  const TurnIds turn{.thread = id,
                     .turn = inputs.ids.next<TurnId>(),
                     .task = task.task_id,
                     .run = inputs.ids.next<RunId>(),
                     .attempt = inputs.ids.next<AttemptId>(),
                     .trace = trace_of(inputs, inputs.ids)};
  if (!thread) facts.add(facts.of(id), ThreadStarted{});
  if (queued)
    facts.add(TaskScope{inputs.session, task.task_id},
              TaskQueued{.reason = "thread", .worker = TaskWorker{WorkerKind::turn, id, {}, {}}});
  TurnSubmitted submitted{.status = queued ? Status::queued : Status::accepted,
                          .input = {{InputKind::text, task.objective, {}}},
                          .source = "task",
                          .options = options_of(task)};
  name_caller(submitted, inputs.trace);
  const std::uint64_t position = queued ? thread->queue.size() + 1 : 0;
  if (queued) submitted.position = position;
  facts.add(facts.of(turn), std::move(submitted));
  if (queued)
    facts.add(facts.of(turn), QueueChanged{.change = QueueChange::added,
                                           .turn_id = turn.turn,
                                           .position = position,
                                           .count = position});
  else
    facts.start(turn);
  return Run{turn.run, turn.attempt, task.attempts_made + 1,
             queued ? TaskStatus::queued : TaskStatus::running};
}

}  // namespace

Result<Run> start_attempt(Facts& facts, const Session& view, const Task& task,
                          const TaskWorker& worker, Inputs& inputs) {
  if (worker.kind == WorkerKind::turn) return start_turn(facts, view, task, worker, inputs);
  if (worker.kind == WorkerKind::job) return reopen_job(facts, view, task, worker, inputs);
  Run run{inputs.ids.next<RunId>(), inputs.ids.next<AttemptId>(), task.attempts_made + 1,
          TaskStatus::running};
  const TaskScope scope{inputs.session, task.task_id};
  facts.add(scope, TaskStarted{});
  facts.add(
      AttemptScope{scope, run.run, run.attempt},
      TaskAttemptStarted{.attempt_count = run.count, .boot_id = inputs.boot, .worker = worker});
  return run;
}

}  // namespace agentrt::control
