// control/tasks/task_facts.h: rules that several decisions about tasks share.
#pragma once

#include "control/turn_facts.h"
#include "state/tasks.h"

namespace agentrt::control {

// The record of the task, as of the last stored or decided fact; null: there is none.
const state::Task* task_of(const Inputs& inputs, const TaskId& id);

// The task that a command names, or the refusal.
Result<const state::Task*> named_task(const Session& view, const TaskId& id, const Inputs& inputs);

// The refusal of a transition that the table does not have.
Error wrong_state(const state::Task& task, std::string_view what);
// The first ids, and the number of the others.
std::string some_of(const std::vector<TaskId>& tasks);
// The refusal to start a task that waits for others.
Error still_blocked(const state::Task& task, const std::vector<TaskId>& blockers);
// Refuses work beneath a task whose cancellation was requested. `from`: the first task to check.
std::optional<Error> beneath_cancelled(const state::Task* from, const Inputs& inputs);
// Whether the task is a descendant of `above`. The task may be null.
bool is_beneath(const state::Task* task, const TaskId& above, const Inputs& inputs);
// The number of tasks from this one up to the root.
std::size_t depth_of(const state::Task* task, const Inputs& inputs);
// Refuses a report of any run but the open one.
std::optional<Error> other_run(const state::Task& task, const RunId& run);
// Refuses to change or start a task whose constraints approve calls in advance.
std::optional<Error> needs_approver(const std::optional<schema::TaskConstraints>& constraints,
                                    const Inputs& inputs);

// The conditions of completion that the task does not meet, with what `given` adds.
std::vector<schema::MissingCondition> unmet(const state::Task& task,
                                            const schema::CompleteTask& given,
                                            const std::vector<std::string>& missing_refs);

// The refusal of a retry policy with a member out of range.
std::optional<Error> wrong_retry_policy(const schema::RetryPolicy& given);
// The delay before the next attempt after so many.
std::int64_t backoff_ms(const schema::RetryPolicy& policy, std::uint64_t attempts);

// When the policy retries an attempt that ended like this; nullopt: it does not, or the task is
// beneath one that was cancelled.
struct Retry {
  std::int64_t after_ms = 0;
  schema::TaskWorker worker;
};
std::optional<Retry> retry_of(const state::Task& task, const schema::Failure& error,
                              schema::TaskStatus end, const Inputs& inputs);

// The options of a turn that works on the task.
schema::TurnOptions options_of(const state::Task& task);

// The ids of the attempt that was started, or of the turn that waits in its thread's queue.
struct Run {
  RunId run;
  AttemptId attempt;
  std::uint64_t count = 0;
  schema::TaskStatus status = schema::TaskStatus::running;
};
// Starts an attempt. REQUIRES: nothing blocks the task, and it has no open attempt.
Result<Run> start_attempt(Facts& facts, const Session& view, const state::Task& task,
                          const schema::TaskWorker& worker, Inputs& inputs);

// The turn that works on the task, running or queued; null: none.
const Turn* turn_of(const Session& view, const state::Task& task);
// What becomes of a worker for a task that waits for others.
enum class WhenBlocked { refuse, queue };
// Refuses another attempt of the task, by a turn or a job that a client submits.
std::optional<Error> no_next_attempt(const Session& view, const state::Task& task,
                                     const Inputs& inputs,
                                     WhenBlocked blocked = WhenBlocked::refuse);
// Whether an attempt is open, or a turn of the task waits in the queue of its thread.
bool taken(const Session& view, const state::Task& task);

}  // namespace agentrt::control
