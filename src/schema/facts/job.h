// schema/facts/job.h: batches of work items. Other runtimes may write fewer members.
#pragma once

#include "schema/jobs.h"
#include "schema/scope.h"

namespace agentrt::schema {

struct JobCreated {
  static constexpr std::string_view kType = "job.created";
  using Scope = JobScope;
  std::optional<std::string> instruction_ref;
  std::optional<std::vector<std::string>> input_refs;
  std::optional<std::uint64_t> items;
  std::optional<std::string> output_schema_ref;
  std::optional<JobRunner> runner;
  std::optional<JobOptions> options;
  std::optional<RetryPolicy> retry_policy;
  std::optional<std::uint64_t> concurrency;
  std::optional<std::int64_t> max_runtime_ms;
  std::optional<bool> repeatable;
  std::optional<std::string> params_hash;  // of the command that chose the id
  std::optional<std::string> tool_name;    // that runs the command
  std::optional<Json> tool_args;
  std::optional<JobStatus> status = {};  // queued: it starts when its task no longer waits

  bool operator==(const JobCreated&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCreated, (),
                      (instruction_ref, input_refs, items, output_schema_ref, runner, options,
                       retry_policy, concurrency, max_runtime_ms, repeatable, params_hash,
                       tool_name, tool_args, status))

// A job that has ended starts again with its record: views do not contain ended jobs.
struct JobStarted {
  static constexpr std::string_view kType = "job.started";
  using Scope = JobScope;
  std::optional<std::string> reason;
  std::optional<std::uint64_t> attempt_count;
  std::optional<JobRecord> job;

  bool operator==(const JobStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobStarted, (), (reason, attempt_count, job))

// With `jobItemId` in the envelope: the new status of that item. `pending`: it waits for another
// attempt; `reported`: its result is stored and not yet validated.
struct JobProgress {
  static constexpr std::string_view kType = "job.progress";
  using Scope = JobScope;
  std::optional<JobCounts> counts;
  std::optional<JobItemStatus> item_status;
  std::optional<JobItemRecord> item;  // of an item that waits for another attempt
  std::optional<std::string> reason;
  std::optional<bool> judge_again;  // policy judges the command again with the next item
  std::optional<bool> redo_ended;   // no failed item of an earlier attempt is left

  bool operator==(const JobProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobProgress, (), (counts, item_status, item, reason, judge_again, redo_ended))

// A retry starts the same item again with an incremented attempt count.
struct JobItemStarted {
  static constexpr std::string_view kType = "job.item.started";
  using Scope = JobItemScope;
  std::optional<std::uint64_t> attempt_count;
  std::optional<std::string> assigned_thread;
  std::optional<JobLine> at;               // its place in the input
  std::optional<ToolCallId> tool_call_id;  // of the command

  bool operator==(const JobItemStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemStarted, (), (attempt_count, assigned_thread, at, tool_call_id))

struct JobItemCompleted {
  static constexpr std::string_view kType = "job.item.completed";
  using Scope = JobItemScope;
  std::optional<std::string> output_ref;
  std::optional<std::string> preview;
  std::optional<std::uint64_t> attempt_count;

  bool operator==(const JobItemCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemCompleted, (), (output_ref, preview, attempt_count))

struct JobItemFailed {
  static constexpr std::string_view kType = "job.item.failed";
  using Scope = JobItemScope;
  std::optional<Failure> error;
  std::optional<std::uint64_t> attempt_count;
  std::optional<bool> retryable;
  std::optional<Timestamp> retry_at;  // the item waits for another attempt, by policy
  std::optional<std::string> output_ref;
  std::optional<std::string> preview;

  bool operator==(const JobItemFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemFailed, (),
                      (error, attempt_count, retryable, retry_at, output_ref, preview))

struct JobCompleted {
  static constexpr std::string_view kType = "job.completed";
  using Scope = JobScope;
  std::optional<JobCounts> counts;

  bool operator==(const JobCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCompleted, (), (counts))

struct JobFailed {
  static constexpr std::string_view kType = "job.failed";
  using Scope = JobScope;
  std::optional<Failure> error;
  std::optional<JobCounts> counts;

  bool operator==(const JobFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobFailed, (), (error, counts))

// Completed items stay completed.
struct JobCancelled {
  static constexpr std::string_view kType = "job.cancelled";
  using Scope = JobScope;
  std::optional<std::string> reason;
  std::optional<JobCounts> counts;

  bool operator==(const JobCancelled&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCancelled, (), (reason, counts))

}  // namespace agentrt::schema
