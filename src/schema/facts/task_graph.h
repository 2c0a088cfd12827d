// schema/facts/task_graph.h: tasks that span several attempts: waiting, progress, retries, loss,
// and the edges between tasks.
#pragma once

#include "schema/scope.h"
#include "schema/tasks.h"

namespace agentrt::schema {

struct TaskAccepted {
  static constexpr std::string_view kType = "task.accepted";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::accepted;
  std::optional<std::string> reason;  // after `blocked`: dependency

  bool operator==(const TaskAccepted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAccepted, (), (status, reason))

struct TaskQueued {
  static constexpr std::string_view kType = "task.queued";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::queued;
  std::optional<std::string> reason;  // dependency, thread, slot, worker
  std::optional<TaskWorker> worker;   // that starts by itself when the reason has gone

  bool operator==(const TaskQueued&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskQueued, (), (status, reason, worker))

// The members that changed.
struct TaskUpdated {
  static constexpr std::string_view kType = "task.updated";
  using Scope = TaskScope;
  std::optional<TaskStatus> status;
  std::optional<std::string> title;
  std::optional<std::string> objective;
  std::optional<Visibility> visibility;
  std::optional<std::string> task_kind;
  std::optional<std::string> task_family;
  std::optional<ThreadId> thread_id;
  std::optional<std::string> priority;
  std::optional<std::string> requested_by;
  std::optional<std::string> owner;
  std::optional<std::string> assignee;
  std::optional<Json> scope;
  std::optional<TaskConstraints> constraints;
  std::optional<Json> task_profile;
  std::optional<std::vector<Acceptance>> acceptance;
  std::optional<RetryPolicy> retry_policy;
  std::optional<DeliveryStatus> delivery_state;

  bool operator==(const TaskUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskUpdated, (),
                      (status, title, objective, visibility, task_kind, task_family, thread_id,
                       priority, requested_by, owner, assignee, scope, constraints, task_profile,
                       acceptance, retry_policy, delivery_state))

struct TaskProgress {
  static constexpr std::string_view kType = "task.progress";
  using Scope = TaskScope;
  std::optional<std::string> phase;
  std::optional<std::string> step;
  std::optional<Json> counters;
  std::optional<Json> validation;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<DeliveryStatus> delivery_state;

  bool operator==(const TaskProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskProgress, (),
                      (phase, step, counters, validation, output_refs, delivery_state))

struct TaskWaiting {
  static constexpr std::string_view kType = "task.waiting";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::waiting_input;
  std::optional<std::string> reason;

  bool operator==(const TaskWaiting&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskWaiting, (), (status, reason))

struct TaskPaused {
  static constexpr std::string_view kType = "task.paused";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::paused;
  std::optional<std::string> reason;

  bool operator==(const TaskPaused&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskPaused, (), (status, reason))

// Names the task that it retries. The only transition out of failed, timed_out and lost.
struct TaskRetrying {
  static constexpr std::string_view kType = "task.retrying";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::retrying;
  std::optional<std::string> reason;
  std::optional<TaskStatus> previous_status;  // by command: the end; by policy: of the attempt
  std::optional<Timestamp> retry_at;          // by policy: when the next attempt starts
  std::optional<std::int64_t> retry_in_ms;    // the same as a duration
  std::optional<TaskWorker> worker;           // of the next attempt
  std::optional<Failure> error;               // by policy: of the attempt

  bool operator==(const TaskRetrying&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskRetrying, (),
                      (status, reason, previous_status, retry_at, retry_in_ms, worker, error))

// No new work starts under the task after this fact.
struct TaskCancelRequested {
  static constexpr std::string_view kType = "task.cancel_requested";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::cancelling;
  std::optional<std::string> reason;
  std::optional<bool> propagate;  // false: active children are awaited, not cancelled

  bool operator==(const TaskCancelRequested&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCancelRequested, (), (status, reason, propagate))

struct TaskTimedOut {
  static constexpr std::string_view kType = "task.timed_out";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::timed_out;
  std::optional<std::string> reason;  // timeout, deadline

  bool operator==(const TaskTimedOut&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskTimedOut, (), (status, reason))

struct TaskLost {
  static constexpr std::string_view kType = "task.lost";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::lost;
  std::optional<std::string> reason;

  bool operator==(const TaskLost&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskLost, (), (status, reason))

struct TaskArchived {
  static constexpr std::string_view kType = "task.archived";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::archived;
  std::optional<std::string> reason;

  bool operator==(const TaskArchived&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskArchived, (), (status, reason))

struct TaskDelegated {
  static constexpr std::string_view kType = "task.delegated";
  using Scope = TaskScope;
  TaskId child_task_id;
  std::optional<SubagentId> subagent_id;
  std::optional<JobId> job_id;
  std::optional<std::string> assignee;

  bool operator==(const TaskDelegated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskDelegated, (), (child_task_id, subagent_id, job_id, assignee))

// One edge of the task. This build writes `parent` and `blocked_by` edges on the task that depends,
// with `targetId`; older streams have `targetTaskId`.
struct TaskDependencyUpdated {
  static constexpr std::string_view kType = "task.dependency.updated";
  using Scope = TaskScope;
  std::string relationship;  // an edge kind: parent, blocked_by, …
  std::optional<std::string> target_id;
  std::optional<TaskId> target_task_id;  // read only
  std::optional<std::string> name;
  std::optional<std::string> status;  // active, satisfied or removed
  std::optional<std::string> reason;

  bool operator==(const TaskDependencyUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskDependencyUpdated, (),
                      (relationship, target_id, target_task_id, name, status, reason))

}  // namespace agentrt::schema
