// schema/facts/task.h: tasks from their creation to their end, and their attempts.
#pragma once

#include "schema/scope.h"
#include "schema/tasks.h"

namespace agentrt::schema {

struct TaskCreated {
  static constexpr std::string_view kType = "task.created";
  using Scope = TaskScope;
  Visibility visibility = Visibility::internal;
  TaskStatus status = TaskStatus::accepted;
  std::string objective;  // of a turn's own task: the start of its input
  std::string task_kind;  // `turn`, or as the creator calls it
  std::optional<std::string> title;
  std::optional<std::string> task_family;
  std::optional<ThreadId> thread_id;  // on which a turn works on it
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
  std::optional<std::string> params_hash;  // of the command that chose the id
  std::optional<bool> blocked = {};        // by tasks that had not completed then

  bool operator==(const TaskCreated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCreated, (),
                      (visibility, status, objective, task_kind, title, task_family, thread_id,
                       priority, requested_by, owner, assignee, scope, constraints, task_profile,
                       acceptance, retry_policy, delivery_state, params_hash, blocked))

struct TaskStarted {
  static constexpr std::string_view kType = "task.started";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::running;

  bool operator==(const TaskStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskStarted, (), (status))

struct TaskBlocked {
  static constexpr std::string_view kType = "task.blocked";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::blocked;
  std::string reason;  // restart, dependency, acceptance, …
  bool resumable = false;
  std::optional<std::vector<MissingCondition>> missing;  // reason acceptance

  bool operator==(const TaskBlocked&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskBlocked, (), (status, reason, resumable, missing))

struct TaskResumed {
  static constexpr std::string_view kType = "task.resumed";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::running;
  std::string reason;

  bool operator==(const TaskResumed&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskResumed, (), (status, reason))

struct TaskCancelled {
  static constexpr std::string_view kType = "task.cancelled";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::cancelled;
  std::string reason;

  bool operator==(const TaskCancelled&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCancelled, (), (status, reason))

struct TaskFailed {
  static constexpr std::string_view kType = "task.failed";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::failed;
  Failure error;

  bool operator==(const TaskFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskFailed, (), (status, error))

struct TaskCompleted {
  static constexpr std::string_view kType = "task.completed";
  using Scope = TaskScope;
  TaskStatus status = TaskStatus::completed;
  std::optional<std::string> summary;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<std::vector<TaskArtifact>> artifacts;
  std::optional<std::vector<std::string>> evidence_refs;
  std::optional<std::vector<std::string>> satisfied;  // statements of the acceptance
  std::optional<DeliveryStatus> delivery_state;

  bool operator==(const TaskCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCompleted, (),
                      (status, summary, output_refs, artifacts, evidence_refs, satisfied,
                       delivery_state))

struct TaskAttemptStarted {
  static constexpr std::string_view kType = "task.attempt.started";
  using Scope = AttemptScope;
  Status status = Status::running;
  std::uint64_t attempt_count = 1;
  BootId boot_id;
  std::optional<TaskWorker> worker;  // absent: the turn that the fact belongs to

  bool operator==(const TaskAttemptStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptStarted, (), (status, attempt_count, boot_id, worker))

struct TaskAttemptCompleted {
  static constexpr std::string_view kType = "task.attempt.completed";
  using Scope = AttemptScope;
  Status status = Status::completed;
  std::optional<std::string> summary;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<std::int64_t> duration_ms = {};  // since task.attempt.started

  bool operator==(const TaskAttemptCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptCompleted, (), (status, summary, output_refs, duration_ms))

struct TaskAttemptFailed {
  static constexpr std::string_view kType = "task.attempt.failed";
  using Scope = AttemptScope;
  Status status = Status::failed;  // failed, cancelled, timed_out or lost
  Failure error;
  std::optional<std::int64_t> duration_ms = {};  // absent: the attempt had not started

  bool operator==(const TaskAttemptFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptFailed, (), (status, error, duration_ms))

}  // namespace agentrt::schema
