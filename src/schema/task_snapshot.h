// schema/task_snapshot.h: the read model of a task and its attempts.
#pragma once

#include "schema/tasks.h"
#include "schema/values.h"

namespace agentrt::schema {

// The status words of the public draft for a thread or an attempt.
BOOST_DEFINE_ENUM_CLASS(PublicStatus, idle, queued, running, blocked, completed, failed, cancelled,
                        stale, unknown)

constexpr PublicStatus public_status(Status status) {
  switch (status) {
    case Status::accepted:
    case Status::queued:
      return PublicStatus::queued;
    case Status::preparing:
    case Status::running:
    case Status::streaming:
    case Status::retrying:
      return PublicStatus::running;
    case Status::waiting_input:
    case Status::waiting_permission:
    case Status::waiting_resource:
    case Status::blocked:
      return PublicStatus::blocked;
    case Status::completed:
      return PublicStatus::completed;
    case Status::failed:
    case Status::timed_out:
      return PublicStatus::failed;
    case Status::cancelled:
      return PublicStatus::cancelled;
    case Status::stale:
      return PublicStatus::stale;
    case Status::idle:
      return PublicStatus::idle;
    case Status::lost:
      return PublicStatus::unknown;
  }
  return PublicStatus::unknown;
}

struct AttemptSnapshot {
  RunId run_id;
  AttemptId attempt_id;
  PublicStatus status = PublicStatus::unknown;
  Status native_status = Status::accepted;
  std::uint64_t attempt_count = 1;
  std::optional<TaskWorker> worker;
  std::optional<TurnId> turn_id;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<Failure> last_error;
  std::optional<std::string> completion_summary;
  std::optional<std::vector<std::string>> output_refs;

  bool operator==(const AttemptSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(AttemptSnapshot, (),
                      (run_id, attempt_id, status, native_status, attempt_count, worker, turn_id,
                       started_at, ended_at, last_error, completion_summary, output_refs))

// An edge of a task.
struct RelationshipSnapshot {
  std::string relationship;
  std::string target_id;
  std::optional<std::string> name;
  EdgeStatus status = EdgeStatus::active;
  std::optional<std::string> reason;
  Timestamp created_at;
  Timestamp updated_at;

  bool operator==(const RelationshipSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(RelationshipSnapshot, (),
                      (relationship, target_id, name, status, reason, created_at, updated_at))

struct DeliverySnapshot {
  DeliveryStatus status = DeliveryStatus::pending;

  bool operator==(const DeliverySnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeliverySnapshot, (), (status))

struct ChildCounts {
  std::uint64_t total = 0;
  std::uint64_t open = 0;
  std::uint64_t completed = 0;

  bool operator==(const ChildCounts&) const = default;
};
BOOST_DESCRIBE_STRUCT(ChildCounts, (), (total, open, completed))

// A task: the reply to get_task, and an entry of list_tasks. The tasks of a session's or thread's
// snapshot have no relationships.
struct TaskSnapshot {
  TaskId task_id;
  SessionId session_id;
  std::optional<TaskId> parent_task_id;
  std::optional<TaskId> root_task_id;  // the top of its tree; its own id without a parent
  std::optional<ThreadId> thread_id;
  std::optional<TurnId> turn_id;  // of its newest attempt
  std::optional<std::string> title;
  std::string objective;
  std::string task_kind;
  std::optional<std::string> task_family;
  Visibility visibility = Visibility::internal;
  TaskStatus status = TaskStatus::accepted;
  std::optional<std::string> status_reason;
  std::optional<std::string> priority;
  std::optional<std::string> requested_by;
  std::optional<std::string> owner;
  std::optional<std::string> assignee;
  std::optional<Json> scope;
  std::optional<TaskConstraints> constraints;
  std::optional<Json> task_profile;
  std::optional<std::vector<Acceptance>> acceptance;
  std::optional<std::vector<MissingCondition>> missing;  // while blocked by acceptance
  std::optional<RetryPolicy> retry_policy;
  std::optional<ProgressNote> progress;
  std::optional<RunId> current_run_id;  // of the open attempt
  std::optional<std::uint64_t> attempt_count;
  std::vector<AttemptSnapshot> attempts;  // the newest ones, oldest first
  std::optional<std::vector<RelationshipSnapshot>> relationships;
  std::optional<std::vector<TaskId>> blockers;
  std::optional<ChildCounts> children;
  std::optional<std::vector<TaskArtifact>> artifacts;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<std::vector<std::string>> evidence_refs;
  std::optional<DeliverySnapshot> delivery_state;
  std::optional<Failure> last_error;
  std::optional<Timestamp> retry_at;
  std::optional<Timestamp> deadline_at;
  Timestamp created_at;
  std::optional<Timestamp> updated_at;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<std::string> next_cursor;  // of get_task: older attempts and relationships

  bool operator==(const TaskSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskSnapshot, (),
                      (task_id, session_id, parent_task_id, root_task_id, thread_id, turn_id, title,
                       objective, task_kind, task_family, visibility, status, status_reason,
                       priority, requested_by, owner, assignee, scope, constraints, task_profile,
                       acceptance, missing, retry_policy, progress, current_run_id, attempt_count,
                       attempts, relationships, blockers, children, artifacts, output_refs,
                       evidence_refs, delivery_state, last_error, retry_at, deadline_at, created_at,
                       updated_at, started_at, ended_at, next_cursor))

}  // namespace agentrt::schema
