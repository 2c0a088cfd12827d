// schema/tasks.h: values of tasks that facts, commands and read models share, and the table of the
// transitions between the states of a task.
#pragma once

#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(WorkerKind, turn, job, external)

// The worker of an attempt: a turn of this runtime, a job, or a client that reports its progress.
struct TaskWorker {
  WorkerKind kind = WorkerKind::external;
  std::optional<ThreadId> thread_id;  // of a turn
  std::optional<JobId> job_id;        // of a job
  std::optional<std::string> name;    // of an external worker, as it calls itself

  bool operator==(const TaskWorker&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskWorker, (), (kind, thread_id, job_id, name))

struct TaskConstraints {
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<std::string> model;
  std::optional<std::vector<std::string>> tools;  // the only ones that a turn may call
  std::optional<std::int64_t> timeout_ms;         // of one attempt
  std::optional<std::int64_t> deadline_ms;        // of all attempts, from the creation on
  std::optional<std::int64_t> heartbeat_ms;       // without a report for this long: lost; 0: never
  std::optional<std::int64_t> cancel_grace_ms;    // for an external worker to confirm
  std::optional<bool> repeatable;                 // a lost attempt may be retried by policy

  bool operator==(const TaskConstraints&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskConstraints, (),
                      (mode, sandbox, model, tools, timeout_ms, deadline_ms, heartbeat_ms,
                       cancel_grace_ms, repeatable))

struct RetryPolicy {
  std::uint64_t max_attempts = 1;
  std::optional<std::int64_t> backoff_ms;       // before the first retry
  std::optional<std::uint64_t> backoff_factor;  // multiplies it with every further retry
  std::optional<std::int64_t> backoff_max_ms;
  std::optional<std::vector<Category>> non_retryable;

  bool operator==(const RetryPolicy&) const = default;
};
BOOST_DESCRIBE_STRUCT(RetryPolicy, (),
                      (max_attempts, backoff_ms, backoff_factor, backoff_max_ms, non_retryable))

BOOST_DEFINE_ENUM_CLASS(AcceptanceKind, artifact, evidence, children, delivery, statement)

struct Acceptance {
  AcceptanceKind kind = AcceptanceKind::statement;
  std::optional<std::string> name;

  bool operator==(const Acceptance&) const = default;
};
BOOST_DESCRIBE_STRUCT(Acceptance, (), (kind, name))

struct ProgressNote {
  std::optional<std::string> phase;  // planning, working, verifying, delivering, waiting, or own
  std::optional<std::string> step;
  std::optional<Json> counters;
  std::optional<Json> validation;

  bool operator==(const ProgressNote&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProgressNote, (), (phase, step, counters, validation))

struct TaskArtifact {
  std::string name;
  std::string ref;

  bool operator==(const TaskArtifact&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskArtifact, (), (name, ref))

BOOST_DEFINE_ENUM_CLASS(DeliveryStatus, pending, delivered, queued, failed, parent_missing,
                        not_applicable)

BOOST_DEFINE_ENUM_CLASS(EdgeKind, parent, child, blocks, blocked_by, source_task, source_attempt,
                        spawned_subagent, assigned_thread, produced_artifact, consumed_artifact,
                        evidence)
BOOST_DEFINE_ENUM_CLASS(EdgeStatus, active, satisfied, removed)

// An unmet condition of complete_task.
struct MissingCondition {
  AcceptanceKind kind = AcceptanceKind::statement;
  std::string name;
  std::string reason;

  bool operator==(const MissingCondition&) const = default;
};
BOOST_DESCRIBE_STRUCT(MissingCondition, (), (kind, name, reason))

// True for completed, cancelled, failed, timed_out, lost and archived.
constexpr bool ended(TaskStatus status) {
  return status == TaskStatus::completed || status == TaskStatus::cancelled ||
         status == TaskStatus::failed || status == TaskStatus::timed_out ||
         status == TaskStatus::lost || status == TaskStatus::archived;
}

// Only these ends may be followed by a retry.
constexpr bool retryable_end(TaskStatus status) {
  return status == TaskStatus::failed || status == TaskStatus::timed_out ||
         status == TaskStatus::lost;
}

// Whether an attempt of the task may be in progress.
constexpr bool active(TaskStatus status) {
  return status == TaskStatus::preparing || status == TaskStatus::running ||
         status == TaskStatus::waiting_input || status == TaskStatus::waiting_permission ||
         status == TaskStatus::waiting_resource || status == TaskStatus::blocked ||
         status == TaskStatus::paused;
}

// The transition table of tasks, which decisions and the validator share. `from` == `to` is no
// transition. A task may also pass directly to `cancelled`: then its cancellation was requested and
// settled at once.
constexpr bool may_move(TaskStatus from, TaskStatus to) {
  using enum TaskStatus;
  if (to == archived) return ended(from) && from != archived;
  if (from == completed || from == cancelled || from == archived) return false;
  if (retryable_end(from)) return to == retrying;
  if (to == timed_out || to == cancelling || to == cancelled) return true;
  if (from == cancelling) return false;
  switch (from) {
    case draft:
      return to == accepted;
    case accepted:
      return to == blocked || to == queued || active(to);
    case queued:
      return active(to) || to == accepted;
    case retrying:
      return to == running || to == preparing || to == queued;
    default:
      break;
  }
  if (from == blocked && (to == queued || to == accepted)) return true;
  return active(from) &&
         (active(to) || to == completed || to == failed || to == lost || to == retrying);
}

}  // namespace agentrt::schema
