// schema/commands/tasks.h: commands for tasks. The task id alone identifies a task; if a session is
// given beside it, the task must belong to it.
#pragma once

#include "schema/command.h"
#include "schema/tasks.h"

namespace agentrt::schema {

// Limits of one claim_task or of a constraint, in milliseconds.
inline constexpr std::int64_t kClaimWaitMaxMs = 600'000;
inline constexpr std::int64_t kTaskTimeMaxMs = 30LL * 24 * 3'600 * 1'000;

// The reply to commands that change a task.
struct TaskReply {
  SessionId session_id;
  TaskId task_id;
  TaskStatus status = TaskStatus::accepted;
  std::optional<Timestamp> retry_at;  // of fail_task: when the policy retries it
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(TaskReply, (), (session_id, task_id, status, retry_at, sequence))

// The reply to commands that start an attempt. Without taskId: no task was free.
struct RunReply {
  std::optional<SessionId> session_id;
  std::optional<TaskId> task_id;
  std::optional<TaskStatus> status;
  std::optional<RunId> run_id;
  std::optional<AttemptId> attempt_id;
  std::optional<std::uint64_t> attempt_count;
  std::optional<std::string> objective;         // of a claimed task
  std::optional<std::vector<TaskId>> blockers;  // that the task waits for
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(RunReply, (),
                      (session_id, task_id, status, run_id, attempt_id, attempt_count, objective,
                       blockers, sequence))

struct CreateTask {
  static constexpr CommandTraits kTraits{"create_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  SessionId session_id;
  std::string objective;
  std::optional<TaskId> task_id;
  std::optional<bool> draft;
  std::optional<std::string> title;
  std::optional<TaskId> parent_task_id;
  std::optional<ThreadId> thread_id;
  std::optional<std::vector<TaskId>> blocked_by;
  std::optional<std::string> task_kind;
  std::optional<std::string> task_family;
  std::optional<Visibility> visibility;
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
  std::optional<std::string> idempotency_key;

  bool operator==(const CreateTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(CreateTask, (),
                      (session_id, objective, task_id, draft, title, parent_task_id, thread_id,
                       blocked_by, task_kind, task_family, visibility, priority, requested_by,
                       owner, assignee, scope, constraints, task_profile, acceptance, retry_policy,
                       delivery_state, idempotency_key))

struct UpdateTask {
  static constexpr CommandTraits kTraits{"update_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<bool> draft;  // false: accept the draft
  std::optional<std::string> objective;
  std::optional<std::string> title;
  std::optional<ThreadId> thread_id;
  std::optional<std::string> task_kind;
  std::optional<std::string> task_family;
  std::optional<Visibility> visibility;
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
  std::optional<std::string> idempotency_key;

  bool operator==(const UpdateTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(UpdateTask, (),
                      (task_id, session_id, draft, objective, title, thread_id, task_kind,
                       task_family, visibility, priority, requested_by, owner, assignee, scope,
                       constraints, task_profile, acceptance, retry_policy, delivery_state,
                       idempotency_key))

struct StartTask {
  static constexpr CommandTraits kTraits{"start_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = RunReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<TaskWorker> worker;
  std::optional<std::string> idempotency_key;

  bool operator==(const StartTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(StartTask, (), (task_id, session_id, worker, idempotency_key))

struct RetryTask {
  static constexpr CommandTraits kTraits{"retry_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = RunReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::string reason;
  std::optional<TaskWorker> worker;
  std::optional<std::string> idempotency_key;

  bool operator==(const RetryTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(RetryTask, (), (task_id, session_id, reason, worker, idempotency_key))

struct ClaimTask {
  static constexpr CommandTraits kTraits{"claim_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = RunReply;
  SessionId session_id;
  TaskWorker worker;
  std::optional<std::string> task_kind;
  std::optional<std::int64_t> wait_ms;
  std::optional<std::string> idempotency_key;

  bool operator==(const ClaimTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClaimTask, (), (session_id, worker, task_kind, wait_ms, idempotency_key))

struct AppendTaskProgress {
  static constexpr CommandTraits kTraits{"append_task_progress", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  RunId run_id;
  std::optional<ProgressNote> progress;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<DeliveryStatus> delivery_state;
  std::optional<std::string> idempotency_key;

  bool operator==(const AppendTaskProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(AppendTaskProgress, (),
                      (task_id, session_id, run_id, progress, output_refs, delivery_state,
                       idempotency_key))

struct CompleteTask {
  static constexpr CommandTraits kTraits{"complete_task", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<RunId> run_id;  // required while an attempt is open
  std::optional<std::string> summary;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<std::vector<TaskArtifact>> artifacts;
  std::optional<std::vector<std::string>> evidence_refs;
  std::optional<std::vector<std::string>> satisfied;
  std::optional<DeliveryStatus> delivery_state;
  std::optional<std::string> idempotency_key;

  bool operator==(const CompleteTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(CompleteTask, (),
                      (task_id, session_id, run_id, summary, output_refs, artifacts, evidence_refs,
                       satisfied, delivery_state, idempotency_key))

struct FailTask {
  static constexpr CommandTraits kTraits{"fail_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  RunId run_id;
  Failure error;
  std::optional<std::string> idempotency_key;

  bool operator==(const FailTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(FailTask, (), (task_id, session_id, run_id, error, idempotency_key))

struct PauseTask {
  static constexpr CommandTraits kTraits{"pause_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const PauseTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(PauseTask, (), (task_id, session_id, reason, idempotency_key))

struct ResumeTask {
  static constexpr CommandTraits kTraits{"resume_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const ResumeTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(ResumeTask, (), (task_id, session_id, reason, idempotency_key))

struct ArchiveTask {
  static constexpr CommandTraits kTraits{"archive_task", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const ArchiveTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(ArchiveTask, (), (task_id, session_id, reason, idempotency_key))

struct CancelTask {
  static constexpr CommandTraits kTraits{"cancel_task", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::string reason;
  std::optional<bool> propagate;
  std::optional<std::string> idempotency_key;

  bool operator==(const CancelTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(CancelTask, (), (task_id, session_id, reason, propagate, idempotency_key))

struct LinkTasks {
  static constexpr CommandTraits kTraits{"link_tasks", TokenScope::submit, CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  EdgeKind kind = EdgeKind::blocked_by;
  std::string target_id;
  std::optional<std::string> name;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const LinkTasks&) const = default;
};
BOOST_DESCRIBE_STRUCT(LinkTasks, (),
                      (task_id, session_id, kind, target_id, name, reason, idempotency_key))

struct UnlinkTasks {
  static constexpr CommandTraits kTraits{"unlink_tasks", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = TaskReply;
  TaskId task_id;
  std::optional<SessionId> session_id;
  EdgeKind kind = EdgeKind::blocked_by;
  std::string target_id;
  std::optional<std::string> name;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const UnlinkTasks&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnlinkTasks, (),
                      (task_id, session_id, kind, target_id, name, reason, idempotency_key))

}  // namespace agentrt::schema
