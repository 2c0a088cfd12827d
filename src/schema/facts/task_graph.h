// schema/facts/task_graph.h: tasks that span several turns: waiting, retries, loss, and the edges
// between tasks.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct TaskAccepted {
  static constexpr std::string_view kType = "task.accepted";
  TaskStatus status = TaskStatus::accepted;

  bool operator==(const TaskAccepted&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAccepted, (), (status))

struct TaskQueued {
  static constexpr std::string_view kType = "task.queued";
  TaskStatus status = TaskStatus::queued;

  bool operator==(const TaskQueued&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskQueued, (), (status))

struct TaskUpdated {
  static constexpr std::string_view kType = "task.updated";
  std::optional<TaskStatus> status;
  std::optional<std::string> title;
  std::optional<std::string> objective;

  bool operator==(const TaskUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskUpdated, (), (status, title, objective))

struct TaskProgress {
  static constexpr std::string_view kType = "task.progress";
  std::optional<std::string> phase;
  std::optional<std::string> step;
  std::optional<Json> counters;

  bool operator==(const TaskProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskProgress, (), (phase, step, counters))

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
  TaskStatus status = TaskStatus::paused;
  std::optional<std::string> reason;

  bool operator==(const TaskPaused&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskPaused, (), (status, reason))

// Names the task that it retries. The only transition out of failed, timed_out and lost.
struct TaskRetrying {
  static constexpr std::string_view kType = "task.retrying";
  TaskStatus status = TaskStatus::retrying;
  std::optional<std::string> reason;

  bool operator==(const TaskRetrying&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskRetrying, (), (status, reason))

// No new work starts under the task after this fact.
struct TaskCancelRequested {
  static constexpr std::string_view kType = "task.cancel_requested";
  TaskStatus status = TaskStatus::cancelling;
  std::optional<std::string> reason;

  bool operator==(const TaskCancelRequested&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskCancelRequested, (), (status, reason))

struct TaskTimedOut {
  static constexpr std::string_view kType = "task.timed_out";
  TaskStatus status = TaskStatus::timed_out;
  std::optional<std::string> reason;

  bool operator==(const TaskTimedOut&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskTimedOut, (), (status, reason))

struct TaskLost {
  static constexpr std::string_view kType = "task.lost";
  TaskStatus status = TaskStatus::lost;
  std::optional<std::string> reason;

  bool operator==(const TaskLost&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskLost, (), (status, reason))

struct TaskArchived {
  static constexpr std::string_view kType = "task.archived";
  TaskStatus status = TaskStatus::archived;

  bool operator==(const TaskArchived&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskArchived, (), (status))

struct TaskDelegated {
  static constexpr std::string_view kType = "task.delegated";
  SubagentId subagent_id;
  TaskId child_task_id;
  std::optional<std::string> assignee;

  bool operator==(const TaskDelegated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskDelegated, (), (subagent_id, child_task_id, assignee))

struct TaskDependencyUpdated {
  static constexpr std::string_view kType = "task.dependency.updated";
  std::string relationship;  // blocks, blocked_by, parent, child, ...
  TaskId target_task_id;
  std::optional<std::string> status;  // active or removed

  bool operator==(const TaskDependencyUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskDependencyUpdated, (), (relationship, target_task_id, status))

}  // namespace agentrt::schema
