// schema/commands/jobs.h: commands for jobs. The job id alone identifies a job; if a session is
// given beside it, the job must belong to it.
#pragma once

#include "schema/command.h"
#include "schema/jobs.h"

namespace agentrt::schema {

inline constexpr std::uint64_t kJobItemsPageMax = 100;  // items per reply of get_job

struct JobItemInput {
  std::optional<JobItemId> job_item_id;  // default: the number of the item, from 1
  Json input;

  bool operator==(const JobItemInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemInput, (), (job_item_id, input))

struct CreateJobReply {
  SessionId session_id;
  JobId job_id;
  TaskId task_id;
  JobStatus status = JobStatus::running;
  std::uint64_t items = 0;
  Sequence sequence = 0;
  std::optional<std::vector<TaskId>> blockers = {};  // of a queued job: what its task waits for
};
BOOST_DESCRIBE_STRUCT(CreateJobReply, (),
                      (session_id, job_id, task_id, status, items, sequence, blockers))

struct CreateJob {
  static constexpr CommandTraits kTraits{"create_job", TokenScope::submit, CommandEffect::mutates};
  using Reply = CreateJobReply;
  SessionId session_id;
  JobRunner runner;
  std::optional<std::vector<JobItemInput>> items;
  std::optional<std::string> items_ref;  // an uploaded output of JSON Lines
  std::optional<JobId> job_id;
  std::optional<TaskId> task_id;
  std::optional<std::uint64_t> concurrency;
  std::optional<RetryPolicy> retry_policy;  // of each item
  std::optional<std::int64_t> max_runtime_ms;
  std::optional<bool> repeatable;  // items that may have run are run again after a crash
  std::optional<JobOptions> options;
  std::optional<std::string> idempotency_key;

  bool operator==(const CreateJob&) const = default;
};
BOOST_DESCRIBE_STRUCT(CreateJob, (),
                      (session_id, runner, items, items_ref, job_id, task_id, concurrency,
                       retry_policy, max_runtime_ms, repeatable, options, idempotency_key))

struct JobItemView {
  JobItemId job_item_id;
  JobItemStatus status = JobItemStatus::pending;
  std::uint64_t attempt_count = 0;
  std::optional<ThreadId> thread_id;
  std::optional<Failure> last_error;
  std::optional<std::string> output_ref;
  std::optional<std::string> preview;

  bool operator==(const JobItemView&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemView, (),
                      (job_item_id, status, attempt_count, thread_id, last_error, output_ref,
                       preview))

struct GetJobReply {
  SessionId session_id;
  JobId job_id;
  TaskId task_id;
  JobStatus status = JobStatus::running;
  JobRunner runner;
  JobCounts counts;
  std::uint64_t concurrency = 0;
  std::string input_ref;
  std::optional<Timestamp> created_at;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<std::string> reason;
  std::optional<Failure> error;
  std::vector<ThreadId> threads;
  std::vector<JobItemView> items;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(GetJobReply, (),
                      (session_id, job_id, task_id, status, runner, counts, concurrency, input_ref,
                       created_at, started_at, ended_at, reason, error, threads, items,
                       next_cursor))

struct GetJob {
  static constexpr CommandTraits kTraits{"get_job", TokenScope::read, CommandEffect::reads};
  using Reply = GetJobReply;
  JobId job_id;
  std::optional<SessionId> session_id;
  std::optional<JobItemStatus> status;  // only items with this status
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const GetJob&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetJob, (), (job_id, session_id, status, limit, cursor))

struct JobPage {
  std::vector<JobSummary> data;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(JobPage, (), (data, next_cursor))

struct ListJobs {
  static constexpr CommandTraits kTraits{"list_jobs", TokenScope::read, CommandEffect::reads};
  using Reply = JobPage;
  std::optional<SessionId> session_id;
  std::optional<JobStatus> status;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const ListJobs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListJobs, (), (session_id, status, limit, cursor))

struct JobReply {
  SessionId session_id;
  JobId job_id;
  JobStatus status = JobStatus::running;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(JobReply, (), (session_id, job_id, status, sequence))

struct CancelJob {
  static constexpr CommandTraits kTraits{"cancel_job", TokenScope::submit, CommandEffect::mutates};
  using Reply = JobReply;
  JobId job_id;
  std::optional<SessionId> session_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const CancelJob&) const = default;
};
BOOST_DESCRIBE_STRUCT(CancelJob, (), (job_id, session_id, reason, idempotency_key))

struct RetryJobItemReply {
  SessionId session_id;
  JobId job_id;
  JobItemId job_item_id;
  JobItemStatus status = JobItemStatus::pending;
  std::uint64_t attempt_count = 0;  // so far
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(RetryJobItemReply, (),
                      (session_id, job_id, job_item_id, status, attempt_count, sequence))

struct RetryJobItem {
  static constexpr CommandTraits kTraits{"retry_job_item", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = RetryJobItemReply;
  JobId job_id;
  JobItemId job_item_id;
  std::optional<SessionId> session_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const RetryJobItem&) const = default;
};
BOOST_DESCRIBE_STRUCT(RetryJobItem, (), (job_id, job_item_id, session_id, reason, idempotency_key))

}  // namespace agentrt::schema
