// schema/facts/job.h: batches of work items.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct JobCounts {
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t reported = 0;

  bool operator==(const JobCounts&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCounts, (), (pending, running, completed, failed, reported))

struct JobCreated {
  static constexpr std::string_view kType = "job.created";
  std::optional<std::string> instruction_ref;
  std::optional<std::vector<std::string>> input_refs;
  std::optional<std::uint64_t> items;
  std::optional<std::string> output_schema_ref;

  bool operator==(const JobCreated&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCreated, (), (instruction_ref, input_refs, items, output_schema_ref))

struct JobStarted {
  static constexpr std::string_view kType = "job.started";
  std::optional<std::string> reason;

  bool operator==(const JobStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobStarted, (), (reason))

struct JobProgress {
  static constexpr std::string_view kType = "job.progress";
  std::optional<JobCounts> counts;

  bool operator==(const JobProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobProgress, (), (counts))

// A retry starts the same item again with an incremented attempt count.
struct JobItemStarted {
  static constexpr std::string_view kType = "job.item.started";
  std::optional<std::uint64_t> attempt_count;
  std::optional<std::string> assigned_thread;

  bool operator==(const JobItemStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemStarted, (), (attempt_count, assigned_thread))

struct JobItemCompleted {
  static constexpr std::string_view kType = "job.item.completed";
  std::optional<std::string> output_ref;
  std::optional<std::uint64_t> attempt_count;

  bool operator==(const JobItemCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemCompleted, (), (output_ref, attempt_count))

struct JobItemFailed {
  static constexpr std::string_view kType = "job.item.failed";
  std::optional<Failure> error;
  std::optional<std::uint64_t> attempt_count;
  std::optional<bool> retryable;

  bool operator==(const JobItemFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobItemFailed, (), (error, attempt_count, retryable))

struct JobCompleted {
  static constexpr std::string_view kType = "job.completed";
  std::optional<JobCounts> counts;

  bool operator==(const JobCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCompleted, (), (counts))

struct JobFailed {
  static constexpr std::string_view kType = "job.failed";
  std::optional<Failure> error;
  std::optional<JobCounts> counts;

  bool operator==(const JobFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobFailed, (), (error, counts))

// Completed items stay completed.
struct JobCancelled {
  static constexpr std::string_view kType = "job.cancelled";
  std::optional<std::string> reason;
  std::optional<JobCounts> counts;

  bool operator==(const JobCancelled&) const = default;
};
BOOST_DESCRIBE_STRUCT(JobCancelled, (), (reason, counts))

}  // namespace agentrt::schema
