// cli/tasks/job_view_test.cc: tests how jobs look.
#include "cli/tasks/job_view.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr Timestamp kNow{1'780'000'000'000};

JobSummary job(JobStatus status, JobCounts counts) {
  JobSummary out;
  out.job_id = JobId{"job_1"};
  out.status = status;
  out.counts = counts;
  out.runner.command = "make one";
  out.created_at = kNow;
  out.started_at = kNow;
  return out;
}

TEST_CASE("jobs: a running job shows a bar, counts, rate and the time left") {
  const JobCounts counts{.pending = 896, .running = 4, .completed = 1'090, .failed = 10};
  CHECK(job_lines(job(JobStatus::running, counts), {}, {50.0}, kNow, {}) ==
        "● job_1  running    ▕███████████░░░░░░░░░▏  55% · 1,100 of 2,000 items · 10 failed · 4 "
        "running · 50/s · 18.0 s left\n     $ make one\n");
  JobPaper narrow;
  narrow.width = 40;
  for (const char* line : {"● job_1  running    ▕██"})
    CHECK(job_lines(job(JobStatus::running, counts), {}, {50.0}, kNow, narrow).starts_with(line));
}

TEST_CASE("jobs: a failed job names the reason and the next command") {
  JobSummary failed = job(JobStatus::failed, {.completed = 2, .failed = 1});
  failed.ended_at = kNow + 1'500;
  failed.error = Failure{Category::exit_nonzero, "1 of 3 items failed", true};
  CHECK(jobs_text({failed}, {}, kNow, {}) ==
        "✗ job_1  failed     3 of 3 items · 1 failed · 1.5 s · just now\n     $ make one\n"
        "     exit_nonzero: 1 of 3 items failed\n"
        "     failed items: agentrt jobs job_1 --status failed\n");
  CHECK(jobs_text({}, {}, kNow, {}).starts_with("No jobs."));
}

TEST_CASE("jobs: items form a tree, and the first failed one shows how to retry it") {
  GetJobReply reply;
  reply.job_id = JobId{"job_1"};
  reply.status = JobStatus::failed;
  reply.runner.command = "make one";
  reply.counts = {.failed = 2};
  reply.created_at = kNow;
  const auto item = [](const char* id) {
    JobItemView out;
    out.job_item_id = JobItemId{id};
    out.status = JobItemStatus::failed;
    out.attempt_count = 2;
    out.last_error = Failure{Category::exit_nonzero, "exit code 1", true};
    return out;
  };
  CHECK(job_text(reply, {item("a"), item("b")}, {}, {}, kNow, {}) ==
        "✗ job_1  failed     2 of 2 items · 2 failed · just now\n     $ make one\n"
        "├─ ✗ a             failed     attempt 2 · exit_nonzero: exit code 1\n"
        "│    retry: agentrt call retry_job_item '{\"jobId\":\"job_1\",\"jobItemId\":\"a\"}'\n"
        "└─ ✗ b             failed     attempt 2 · exit_nonzero: exit code 1\n");
}

TEST_CASE("jobs: the start and the end of a job are one line each") {
  const JobId job{"job_1"};
  JobCreated created;
  created.items = 1'200;
  created.runner = JobRunner{.command = "make one"};
  CHECK(job_news(job, created) == "job job_1 started: 1,200 items, $ make one");
  JobStarted started;
  CHECK(job_news(job, started).empty());
  started.reason = "fixed";
  CHECK(job_news(job, started) == "job job_1 started again: fixed");
  CHECK(job_news(job, JobCompleted{JobCounts{.completed = 1}}) == "job job_1 completed: 1 item");
  JobFailed failed;
  failed.error = Failure{Category::exit_nonzero, "1 of 6 items failed", true};
  CHECK(job_news(job, failed) ==
        "job job_1 failed: 1 of 6 items failed; agentrt jobs job_1 shows why");
  CHECK(job_news(job, JobItemStarted{}).empty());
}

TEST_CASE("jobs: the pace is measured over the last seconds") {
  PaceMeter meter;
  CHECK_FALSE(meter.add({.completed = 0}, 0).items_per_second);
  CHECK(meter.add({.completed = 20}, 2'000).items_per_second == 10.0);
  meter.add({.completed = 20}, 11'000);
  CHECK(meter.add({.completed = 110}, 20'000).items_per_second == 5.0);
}

}  // namespace
}  // namespace agentrt::cli
