// state/tasks.h: the record of a task, and the working set of records that a session's facts
// change.
//
// A task has no place in the view: it may be idle for weeks, and a session may have thousands. Its
// record is an index row. A lane reads the rows that a decision needs, keeps those of running
// turns, and folds each fact about a task into its record here. The same function rebuilds the rows
// from the log. A fact about a task whose record is not in the working set changes nothing, which
// happens only in streams of other runtimes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schema/facts.h"
#include "schema/tasks.h"

namespace agentrt::state {

inline constexpr std::string_view kTaskKind = "task";
inline constexpr std::string_view kAttemptKind = "attempt";

inline constexpr std::size_t kAttemptsKept =
    100;  // in the record; older ones have rows of their own
inline constexpr std::size_t kDelegationEdgesMax = 64;  // edges of a record, if it gets one more
inline constexpr std::size_t kTaskRefsKept = 256;       // output refs, newest first to go last
inline constexpr std::int64_t kHeartbeatMs = 60'000;    // default for external workers
inline constexpr std::int64_t kCancelGraceMs = 2'000;   // default

struct TaskAttempt {
  RunId run_id;
  AttemptId attempt_id;
  schema::Status status = schema::Status::running;
  std::uint64_t attempt_count = 1;
  schema::TaskWorker worker;
  std::optional<TurnId> turn_id;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<schema::Failure> last_error;
  std::optional<std::string> completion_summary;
  std::optional<std::vector<std::string>> output_refs;
  Sequence first = 0;  // sequence of its task.attempt.started

  bool operator==(const TaskAttempt&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskAttempt, (),
                      (run_id, attempt_id, status, attempt_count, worker, turn_id, started_at,
                       ended_at, last_error, completion_summary, output_refs, first))

struct TaskEdge {
  std::string relationship;
  std::string target_id;
  std::optional<std::string> name;
  schema::EdgeStatus status = schema::EdgeStatus::active;
  std::optional<std::string> reason;
  Timestamp created_at;
  Timestamp updated_at;

  bool operator==(const TaskEdge&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskEdge, (),
                      (relationship, target_id, name, status, reason, created_at, updated_at))

// A time limit: a wall instant, and how long it was away when it was set. After a restart the
// smaller remaining time holds, so that setting the wall clock cannot postpone it.
struct TaskTimer {
  Timestamp at;
  std::int64_t within_ms = 0;
  Timestamp set_at;

  bool operator==(const TaskTimer&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskTimer, (), (at, within_ms, set_at))

struct Task {
  TaskId task_id;
  Sequence first = 0;  // sequence of its task.created
  std::optional<ThreadId> thread_id;
  std::optional<TurnId> turn_id;  // of its newest attempt
  std::string objective;
  std::string task_kind;
  schema::Visibility visibility = schema::Visibility::internal;
  schema::TaskStatus status = schema::TaskStatus::accepted;
  std::optional<std::string> status_reason;
  std::optional<std::string> title;
  std::optional<std::string> task_family;
  std::optional<std::string> priority;
  std::optional<std::string> requested_by;
  std::optional<std::string> owner;
  std::optional<std::string> assignee;
  std::optional<schema::Json> scope;
  std::optional<schema::TaskConstraints> constraints;
  std::optional<schema::Json> task_profile;
  std::optional<std::vector<schema::Acceptance>> acceptance;
  std::optional<schema::RetryPolicy> retry_policy;
  std::optional<TaskId> parent_task_id;
  std::optional<schema::ProgressNote> progress;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<std::vector<schema::TaskArtifact>> artifacts;
  std::optional<std::vector<std::string>> evidence_refs;
  std::optional<std::vector<std::string>> satisfied;
  std::optional<schema::DeliveryStatus> delivery_state;
  std::optional<std::vector<schema::MissingCondition>> missing;  // while blocked by acceptance
  std::optional<RunId> current_run_id;                           // of the open attempt
  std::uint64_t attempts_made = 0;
  std::vector<TaskAttempt> attempts;  // the newest kAttemptsKept, oldest first
  std::vector<TaskEdge> edges;        // of which it is the source
  std::uint64_t children = 0;
  std::uint64_t children_open = 0;        // not ended
  std::uint64_t children_cancelling = 0;  // of these
  std::uint64_t children_completed = 0;
  std::uint64_t dependants = 0;                   // tasks that wait for it
  std::optional<schema::TaskWorker> next_worker;  // starts by itself when nothing holds it up
  std::optional<bool> propagates;                 // of a cancellation
  std::optional<std::string> params_hash;
  std::optional<bool> created_blocked = {};
  std::optional<TaskTimer> deadline;
  std::optional<TaskTimer> timeout;             // of the open attempt
  std::optional<std::int64_t> timeout_left_ms;  // while paused
  std::optional<TaskTimer> retry;
  std::optional<TaskTimer> grace;
  std::optional<schema::Failure> last_error;
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;

  bool operator==(const Task&) const = default;
};
BOOST_DESCRIBE_STRUCT(Task, (),
                      (task_id, first, thread_id, turn_id, objective, task_kind, visibility, status,
                       status_reason, title, task_family, priority, requested_by, owner, assignee,
                       scope, constraints, task_profile, acceptance, retry_policy, parent_task_id,
                       progress, output_refs, artifacts, evidence_refs, satisfied, delivery_state,
                       missing, current_run_id, attempts_made, attempts, edges, children,
                       children_open, children_cancelling, children_completed, dependants,
                       next_worker, propagates, params_hash, created_blocked, deadline, timeout,
                       timeout_left_ms, retry, grace, last_error, created_at, updated_at,
                       started_at, ended_at))

// The open attempt; null: none.
const TaskAttempt* open_attempt(const Task& task);
// Active `blocked_by` edges: the tasks that it waits for.
std::vector<TaskId> blockers_of(const Task& task);
// Whether claim_task may take it, if it is not assigned to someone else.
bool is_free(const Task& task);
// Whether it has neither ended nor an open attempt, and is not being cancelled.
bool is_idle(const Task& task);
// The heartbeat interval of the open attempt in milliseconds; 0: none.
std::int64_t heartbeat_of(const Task& task);
// Whether the task has consequences that are not recorded yet (schema::ReportTaskContinues).
bool continues(const Task& task);
// The earliest of its time limits.
std::optional<Timestamp> due_of(const Task& task);
// The lists that its index row is in.
std::vector<std::string> terms_of(const Task& task);

std::string encode(const Task& task);
// Reads the record of a task's row, also one of the format before version 3 of the store.
Result<Task> decode_task(std::string_view record);

// The records of tasks that are in memory, by id.
class Tasks {
 public:
  const Task* find(const TaskId& id) const;
  void put(Task task);
  bool contains(const TaskId& id) const { return records_.contains(id); }
  std::size_t size() const { return records_.size(); }
  void clear() { records_.clear(); }
  // Drops every record that `keep` does not name.
  template <class Keep>
  void drop_unless(const Keep& keep) {
    std::erase_if(records_, [&](const auto& entry) { return !keep(entry.first); });
  }
  const std::map<TaskId, Task>& records() const { return records_; }

 private:
  friend class TaskFolder;
  std::map<TaskId, Task> records_;
};

// What facts have changed.
struct TaskChanges {
  std::set<TaskId> tasks;                                 // whose records differ, or that are new
  std::vector<std::pair<TaskId, TaskAttempt>> set_aside;  // attempts that left their record
};

// Applies a fact to the records of the tasks that it concerns: its own, and the parent or the
// dependency of that task. Adds to `changes`. Pure and total.
void fold_tasks(Tasks& tasks, const schema::Fact& fact, TaskChanges& changes);

}  // namespace agentrt::state
