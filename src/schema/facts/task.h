// schema/facts/task.h: the task behind every turn, and its attempts.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct TaskCreated {
  static constexpr std::string_view kType = "task.created";
  using Scope = TaskScope;
  Visibility visibility = Visibility::internal;
  TaskStatus status = TaskStatus::accepted;
  std::string objective;  // the start of the turn's input
  std::string task_kind;  // turn

  bool operator==(const TaskCreated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCreated, (), (visibility, status, objective, task_kind))

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
  std::string reason;
  bool resumable = false;

  bool operator==(const TaskBlocked&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskBlocked, (), (status, reason, resumable))

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

  bool operator==(const TaskCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCompleted, (), (status))

struct TaskAttemptStarted {
  static constexpr std::string_view kType = "task.attempt.started";
  using Scope = AttemptScope;
  Status status = Status::running;
  std::uint64_t attempt_count = 1;
  BootId boot_id;

  bool operator==(const TaskAttemptStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptStarted, (), (status, attempt_count, boot_id))

struct TaskAttemptCompleted {
  static constexpr std::string_view kType = "task.attempt.completed";
  using Scope = AttemptScope;
  Status status = Status::completed;

  bool operator==(const TaskAttemptCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptCompleted, (), (status))

struct TaskAttemptFailed {
  static constexpr std::string_view kType = "task.attempt.failed";
  using Scope = AttemptScope;
  Status status = Status::failed;  // failed or cancelled
  Failure error;

  bool operator==(const TaskAttemptFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptFailed, (), (status, error))

}  // namespace agentrt::schema
