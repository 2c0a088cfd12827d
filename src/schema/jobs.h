// schema/jobs.h: values of jobs that facts, commands and index rows share.
#pragma once

#include "schema/scope.h"
#include "schema/tasks.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(RunnerKind, command, turn)
// queued: its task waits for other tasks.
BOOST_DEFINE_ENUM_CLASS(JobStatus, queued, running, completed, failed, cancelled)
BOOST_DEFINE_ENUM_CLASS(JobItemStatus, pending, running, completed, failed, reported)

inline constexpr std::uint64_t kJobItemsMax = 1'000'000;    // per job
inline constexpr std::uint64_t kJobItemBytesMax = 1 << 20;  // one line of its input
inline constexpr std::uint64_t kJobConcurrencyDefault = 4;  // items that run at once
inline constexpr std::uint64_t kJobConcurrencyMax = 64;     // of the 256 commands at once
inline constexpr std::int64_t kJobTimeMaxMs = 30LL * 24 * 3'600 * 1'000;
inline constexpr std::uint64_t kItemAttemptsMax = 100;  // by policy
inline constexpr std::uint64_t kLostAttemptsMax = 10;   // of a repeatable item

// What is done with each item: a shell command with the item on its standard input, or a turn of a
// model.
struct JobRunner {
  RunnerKind kind = RunnerKind::command;
  std::optional<std::string> command;
  std::optional<std::uint64_t> timeout_ms;
  std::optional<std::string> instruction;
  std::optional<std::string> model;
  std::optional<std::vector<std::string>> tools;
  std::optional<Json> output_schema;

  bool operator==(const JobRunner&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobRunner, (),
                      (kind, command, timeout_ms, instruction, model, tools, output_schema))

struct JobOptions {
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<bool> interactive;  // whether a question may wait for a person; default: true

  bool operator==(const JobOptions&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobOptions, (), (mode, sandbox, interactive))

struct JobCounts {
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t reported = 0;

  bool operator==(const JobCounts&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCounts, (), (pending, running, completed, failed, reported))

// A position in the input: the items before it have been started at least once.
struct JobCursor {
  std::uint64_t line = 0;    // items before it
  std::uint64_t offset = 0;  // in bytes

  bool operator==(const JobCursor&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCursor, (), (line, offset))

// A job without its work in progress: the record of its index row, and all that a fact needs to
// reopen it.
struct JobRecord {
  JobIds ids;
  JobStatus status = JobStatus::running;
  JobRunner runner;
  JobOptions options;
  std::optional<RetryPolicy> retry_policy;
  std::uint64_t concurrency = kJobConcurrencyDefault;
  std::optional<std::int64_t> max_runtime_ms;
  bool repeatable = false;
  std::string input_ref;  // the output that contains the items
  std::uint64_t items = 0;
  JobCursor cursor;
  JobCounts counts;
  // Failed items of earlier attempts that this attempt has to retry, the one that started last
  // first, and the sequence of the first job.item.started of the one that was retried last.
  std::uint64_t redo = 0;
  Sequence redo_before = 0;
  std::uint64_t attempts = 0;  // of the job at its task
  std::vector<ThreadId> threads;
  Sequence first = 0;  // sequence of job.created
  Timestamp created_at;
  std::optional<Timestamp> started_at;  // of the last attempt
  std::optional<Timestamp> ended_at;
  std::optional<std::string> reason;  // why it was cancelled or reopened
  std::optional<Failure> error;
  std::optional<std::string> params_hash;  // of the command that chose the id
  // The tool that runs the command, and its arguments; absent: a turn of a model.
  std::optional<std::string> tool_name;
  std::optional<Json> tool_args;
  std::optional<bool> created_queued = {};  // its task waited for others then

  bool operator==(const JobRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobRecord, (),
                      (ids, status, runner, options, retry_policy, concurrency, max_runtime_ms,
                       repeatable, input_ref, items, cursor, counts, redo, redo_before, attempts,
                       threads, first, created_at, started_at, ended_at, reason, error, params_hash,
                       tool_name, tool_args, created_queued))

// A job in lists and snapshots.
struct JobSummary {
  SessionId session_id;
  JobId job_id;
  TaskId task_id;
  JobStatus status = JobStatus::running;
  JobRunner runner;
  JobCounts counts;
  std::uint64_t items = 0;
  std::uint64_t concurrency = 0;
  std::string input_ref;
  Timestamp created_at;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<std::string> reason;
  std::optional<Failure> error;

  bool operator==(const JobSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobSummary, (),
                      (session_id, job_id, task_id, status, runner, counts, items, concurrency,
                       input_ref, created_at, started_at, ended_at, reason, error))

// Where an item is in the input of its job.
struct JobLine {
  JobItemId id;
  std::uint64_t line = 0;    // from 1
  std::uint64_t offset = 0;  // of the item's input, in bytes
  std::uint64_t size = 0;
  std::uint64_t next = 0;  // offset of the next item

  bool operator==(const JobLine&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobLine, (), (id, line, offset, size, next))

// The record of an item's index row.
struct JobItemRecord {
  JobId job_id;
  JobLine at;
  JobItemStatus status = JobItemStatus::running;
  std::uint64_t attempt_count = 0;
  std::optional<ThreadId> thread_id;
  std::optional<Failure> last_error;
  std::optional<std::string> output_ref;
  std::optional<std::string> preview;
  Sequence first = 0;  // sequence of its first job.item.started

  bool operator==(const JobItemRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemRecord, (),
                      (job_id, at, status, attempt_count, thread_id, last_error, output_ref,
                       preview, first))

inline constexpr std::string_view kJobKind = "job";
inline constexpr std::string_view kJobItemKind = "job_item";

// The id of an item's index row, and the list of a job's items with a status other than completed.
inline std::string job_item_row_id(const JobId& job, const JobItemId& item) {
  return job.text() + "/" + item.text();
}
inline std::string job_items_term(const JobId& job, JobItemStatus status) {
  return job.text() + " " + std::string(name_of(status));
}

}  // namespace agentrt::schema
