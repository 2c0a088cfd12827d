// control/jobs/jobs_test.cc: tests the decisions about jobs: creation, items, retries and ends.
#include "control/jobs/jobs.h"

#include <doctest/doctest.h>

#include "control/testing/given_jobs.h"

namespace agentrt::control {
namespace {

using namespace schema;

TEST_CASE("jobs: a job is created with its task, and its first item runs alone") {
  JobRun run(5);
  const Outcome created = run.create(job_of("true"));
  CHECK(created.shape() ==
        "task.created job.created task.delegated task.started task.attempt.started job.started");
  const auto reply = created.reply<CreateJobReply>();
  CHECK(reply.items == 5);
  CHECK(reply.sequence == run.view().sequence);
  CHECK(run.job().record.counts == JobCounts{.pending = 5});
  CHECK(state::free_slots(run.job()) == 1);
  CHECK(run.feed(4).shape() ==
        "thread.started turn.submitted job.item.started turn.started run.status");
  CHECK(run.job().record.counts == JobCounts{.pending = 4, .running = 1});
  CHECK(run.feed(4).shape() == "unchanged");
  const Outcome allowed = run.prepared("1");
  CHECK(allowed.shape() ==
        "context.resolved item.started permission.evaluated tool.started run.status");
  CHECK(run.job().permission.has_value());
}

TEST_CASE("jobs: the other items run what was judged, without another judgement") {
  JobRun run(3);
  run.create(job_of("true"));
  run.first();
  const Outcome second = run.feed(4);
  CHECK(second.shape() ==
        "thread.started turn.submitted job.item.started turn.started item.started "
        "permission.evaluated tool.started run.status");
  CHECK(run.ready("2").shape() == "sandbox.applied process.started");
  const Outcome end = run.ends("2", 0);
  CHECK(end.shape() ==
        "process.completed tool.result item.completed job.item.completed turn.completed");
  CHECK(end.fact_of<JobItemCompleted>().ids.job_item_id.text() == "2");
  CHECK(end.payload_of<JobItemCompleted>().preview == "printed by 2");
  run.ends("1", 0);
  run.feed(4);
  run.ready("3");
  const Outcome last = run.ends("3", 0);
  CHECK(last.shape() ==
        "process.completed tool.result item.completed job.item.completed turn.completed "
        "task.attempt.completed job.completed task.completed");
  CHECK_FALSE(run.running());
  CHECK(run.ended().counts == JobCounts{.completed = 3});
  CHECK(run.view().threads.empty());
  CHECK(run.items.at("3").status == JobItemStatus::completed);
}

TEST_CASE("jobs: an item starts once, also if its line is reported twice") {
  JobRun run(3);
  run.create(job_of("true"));
  run.first();
  ReportJobItems report;
  report.job = kJob;
  report.lines = {{JobItemId{"1"}, 1, 10, 1, 20}, {JobItemId{"2"}, 2, 20, 1, 30}};
  const Outcome started = run.decide(Report{report});
  CHECK(started.all_of<JobItemStarted>().size() == 1);
  CHECK(started.fact_of<JobItemStarted>().ids.job_item_id.text() == "2");
}

TEST_CASE("jobs: a failed item fails the job, and its retry reopens it") {
  JobRun run(2);
  run.create(job_of("false"));
  run.first();
  run.ends("1", 1);
  CHECK(run.items.at("1").status == JobItemStatus::failed);
  CHECK(run.items.at("1").last_error->category == Category::exit_nonzero);
  CHECK(run.retry("2").shape() == "refused: conflict");
  run.feed(1);
  run.ready("2");
  const Outcome end = run.ends("2", 0);
  CHECK(end.payload_of<JobFailed>().error->message == "1 of 2 items failed");
  CHECK(run.retry("2").shape() == "refused: conflict");
  const Outcome again = run.retry("1");
  CHECK(again.shape() ==
        "task.retrying task.started task.attempt.started job.started job.progress");
  CHECK(again.reply<RetryJobItemReply>().attempt_count == 1);
  CHECK(run.job().record.counts == JobCounts{.pending = 1, .completed = 1});
  CHECK(run.retry("1").shape() == "refused: conflict");
  // The command is judged again after a reopening.
  const Outcome started = run.feed(0);
  CHECK(started.payload_of<JobItemStarted>().attempt_count == 2);
  run.prepared("1");
  run.ready("1");
  CHECK(run.ends("1", 0).payload_of<JobCompleted>().counts == JobCounts{.completed = 2});
  CHECK(run.items.at("1").attempt_count == 2);
}

TEST_CASE("jobs: the policy retries a failed item after its backoff") {
  JobRun run(1);
  CreateJob command = job_of("false");
  command.retry_policy = RetryPolicy{.max_attempts = 3, .backoff_ms = 100, .backoff_factor = 3};
  run.create(command);
  run.first();
  const Timestamp first_end = run.now();
  CHECK(run.ends("1", 1).payload_of<JobItemFailed>().retry_at == first_end + 100);
  CHECK(run.job().record.counts == JobCounts{.pending = 1});
  CHECK(run.feed(1).shape() == "unchanged");
  run.wait(100);
  CHECK(run.feed(0).payload_of<JobItemStarted>().attempt_count == 2);
  run.ready("1");
  CHECK(run.ends("1", 1).payload_of<JobItemFailed>().retry_at == run.now() + 300);
  run.wait(300);
  run.feed(0);
  run.ready("1");
  const Outcome last = run.ends("1", 1);
  CHECK_FALSE(last.payload_of<JobItemFailed>().retry_at);
  CHECK(last.payload_of<JobFailed>().counts == JobCounts{.failed = 1});
}

TEST_CASE("jobs: a lost item is retried only if the job is repeatable") {
  const Failure lost{Category::lost, "how it ended is unknown", false};
  for (const bool repeatable : {false, true}) {
    JobRun run(1);
    CreateJob command = job_of("true");
    command.repeatable = repeatable;
    command.retry_policy = RetryPolicy{.max_attempts = 5};
    run.create(command);
    run.first();
    const Outcome end = run.ends("1", 0, lost);
    CHECK(end.payload_of<JobItemFailed>().retry_at.has_value() == repeatable);
    CHECK(run.running() == repeatable);
  }
}

TEST_CASE("jobs: cancelling ends what runs and keeps the rest") {
  JobRun run(4);
  run.create(job_of("true"));
  run.first();
  run.ends("1", 0);
  run.feed(2);
  CancelJob command;
  command.job_id = kJob;
  command.reason = "enough";
  const Outcome end = run.decide(Command{command});
  CHECK(end.all_of<JobItemFailed>().size() == 2);
  CHECK(end.payload_of<JobCancelled>().counts ==
        JobCounts{.pending = 1, .completed = 1, .failed = 2});
  CHECK(run.items.at("2").last_error->category == Category::cancelled);
  Named ended;
  ended.job = run.ended();
  CHECK(run.decide(Command{command}, ended).shape() == "unchanged");
  CHECK(run.retry("2").shape() == "refused: conflict");
}

TEST_CASE("jobs: permission that is denied fails the job at once") {
  JobRun run(9);
  CreateJob command = job_of("true");
  command.options = JobOptions{.mode = PermissionMode::plan};
  run.create(command);
  run.feed(1);
  const Outcome end = run.prepared("1");
  CHECK(end.payload_of<JobFailed>().error->category == Category::denied);
  CHECK(run.ended().counts == JobCounts{.pending = 8, .failed = 1});
}

TEST_CASE("jobs: progress is reported once per second") {
  JobRun run(5);
  run.create(job_of("true", 1));
  run.first();
  CHECK(run.ends("1", 0).all_of<JobProgress>().empty());
  run.feed(1);
  run.ready("2");
  run.wait(kJobProgressEveryMs);
  const Outcome end = run.ends("2", 0);
  CHECK(end.payload_of<JobProgress>().counts == JobCounts{.pending = 3, .completed = 2});
  run.feed(1);
  run.ready("3");
  CHECK(run.ends("3", 0).all_of<JobProgress>().empty());
}

TEST_CASE("jobs: the maximum time ends the job") {
  JobRun run(3);
  CreateJob command = job_of("true");
  command.max_runtime_ms = 500;
  run.create(command);
  run.first();
  const Outcome end = run.decide(Report{ReportJobDue{kJob}});
  CHECK(end.payload_of<JobItemFailed>().error->category == Category::timeout);
  CHECK(end.payload_of<JobFailed>().counts == JobCounts{.pending = 2, .failed = 1});
}

TEST_CASE("jobs: after a restart an item continues without a person") {
  JobRun run(2);
  run.create(job_of("true"));
  run.first();
  Inputs inputs = run.inputs();
  inputs.boot = BootId{"boot_2"};
  const Outcome restarted = when(run.view(), Report{ReportRestarted{}}, inputs);
  CHECK(restarted.shape() == "thread.updated");
}

TEST_CASE("jobs: a job is an attempt of its task") {
  JobRun run(2);
  run.create(job_of("true"));
  REQUIRE(run.task().attempts.size() == 1);
  CHECK(run.task().attempts[0].worker == TaskWorker{WorkerKind::job, {}, kJob, {}});
  CHECK(run.task().status == TaskStatus::running);
  run.first();
  run.ends("1", 0);
  CHECK(run.task().attempts.size() == 1);
  run.feed(1);
  run.ready("2");
  run.ends("2", 0);
  CHECK(run.task().status == TaskStatus::completed);
  CHECK_FALSE(run.task().current_run_id);
}

TEST_CASE("jobs: a retry of the task retries every failed item, and no other") {
  JobRun run(4);
  run.create(job_of("false"));
  run.first();
  run.ends("1", 1);
  run.feed(3);
  for (const std::string item : {"2", "3"}) run.ready(item);
  run.ends("2", 0);
  run.ends("3", 1);
  run.feed(1);
  run.ready("4");
  run.ends("4", 1);
  CHECK(run.task().status == TaskStatus::failed);
  RetryTask command;
  command.reason = "fixed";
  const Outcome again = run.on_task(command);
  CHECK(again.shape() == "task.retrying task.started task.attempt.started job.started");
  CHECK(run.job().record.redo == 3);
  CHECK(run.retry("1").shape() == "refused: conflict");
  CHECK(run.feed_failed().all_of<JobProgress>().size() == 3);
  CHECK(run.job().record.redo == 0);
  CHECK(run.job().record.counts == JobCounts{.pending = 3, .completed = 1});
  const Outcome started = run.feed(0);
  const std::string item = started.fact_of<JobItemStarted>().ids.job_item_id.text();
  run.prepared(item);
  run.ready(item);
  run.ends(item, 1);  // it fails again, and is not retried by this attempt
  run.feed(0);
  for (const std::string each : {"1", "3", "4"}) {
    if (each == item) continue;
    run.ready(each);
    run.ends(each, 0);
  }
  CHECK_FALSE(run.running());
  CHECK(run.ended().counts == JobCounts{.completed = 3, .failed = 1});
  CHECK(run.task().attempts.size() == 2);
}

TEST_CASE("jobs: a paused task lets running items end and starts no other") {
  JobRun run(3);
  run.create(job_of("true"));
  run.first();
  CHECK(run.on_task(PauseTask{}).shape() == "task.paused");
  run.ends("1", 0);
  CHECK(run.feed(2).shape() == "unchanged");
  CHECK(run.on_task(ResumeTask{}).shape() == "task.resumed");
  CHECK(run.feed(2).all_of<JobItemStarted>().size() == 2);
}

TEST_CASE("jobs: the cancellation of the task ends the job") {
  JobRun run(3);
  run.create(job_of("true"));
  run.first();
  CancelTask command;
  command.reason = "enough";
  const Outcome end = run.on_task(command);
  CHECK(end.payload_of<JobCancelled>().reason == "enough");
  CHECK(end.reply<TaskReply>().status == TaskStatus::cancelled);
  CHECK(run.task().status == TaskStatus::cancelled);
  CHECK_FALSE(run.running());
}

TEST_CASE("jobs: a thread of a job takes no other turn") {
  JobRun run(2);
  run.create(job_of("true"));
  run.first();
  SubmitTurn command;
  command.session_id = state::kSession;
  command.thread_id = run.turn_of("1").ids.thread;
  command.input = {{InputKind::text, "hello", {}}};
  CHECK(run.decide(Command{command}).shape() == "refused: conflict");
}

TEST_CASE("jobs: the input of a running job does not expire") {
  JobRun run(2);
  run.create(job_of("true"));
  ReportOutputDue due;
  due.output_ref = "out_1";
  CHECK(run.decide(Report{due}).shape() == "unchanged");
  due.output_ref = "out_2";
  CHECK(run.decide(Report{due}).shape() == "output.expired");
}

TEST_CASE("jobs: wrong params are refused") {
  JobRun run(1);
  CreateJob command = job_of("true");
  command.concurrency = 65;
  CHECK(run.create(command).shape() == "refused: invalid_params");
  command = job_of("");
  CHECK(run.create(command).shape() == "refused: invalid_params");
  command = job_of("true");
  command.runner.output_schema = Json{"{}"};
  CHECK(run.create(command).shape() == "refused: invalid_params");
  Settings settings = usual_settings();
  settings.jobs_max = 0;
  Inputs inputs = run.inputs();
  inputs.settings = &settings;
  inputs.named.items = Named::Items{"out_1", 1, {}};
  CHECK(when(run.view(), Command{job_of("true")}, inputs).shape() == "refused: limit_exceeded");
}

CreateTask task_named(const char* id, std::vector<TaskId> blocked_by = {}) {
  CreateTask command;
  command.session_id = state::kSession;
  command.task_id = TaskId{id};
  command.objective = id;
  if (!blocked_by.empty()) command.blocked_by = std::move(blocked_by);
  return command;
}

// A job for a task that waits for the task "first".
JobRun queued_job(Outcome& created) {
  JobRun run(1);
  run.decide(Command{task_named("first")});
  run.decide(Command{task_named("then", {TaskId{"first"}})});
  CreateJob command = job_of("true");
  command.task_id = TaskId{"then"};
  created = run.create(command);
  return run;
}

TEST_CASE("jobs: a job for a task that waits for others is queued, and starts when it may") {
  Outcome created;
  JobRun run = queued_job(created);
  CHECK(created.shape() == "job.created task.delegated task.queued");
  const auto reply = created.reply<CreateJobReply>();
  CHECK(reply.status == JobStatus::queued);
  CHECK(reply.blockers == std::vector{TaskId{"first"}});
  CHECK(run.task().status == TaskStatus::queued);
  CHECK(state::free_slots(run.job()) == 0);
  CHECK_FALSE(state::job_runs(run.view()));
  // Nothing else may take the task meanwhile.
  StartTask other{.task_id = TaskId{"then"}};
  other.worker = TaskWorker{WorkerKind::turn, ThreadId{"thread_1"}, {}, {}};
  const Outcome taken = run.decide(Command{other});
  CHECK(taken.shape() == "refused: conflict");
  CHECK(taken.refusal().details.contains(R"("jobId":"job_1")"));
  CreateJob second = job_of("true");
  second.job_id = JobId{"job_2"};
  second.task_id = TaskId{"then"};
  CHECK(run.create(second).shape() == "refused: conflict");

  const auto started = run.decide(Command{StartTask{.task_id = TaskId{"first"}}});
  CompleteTask done{.task_id = TaskId{"first"}};
  done.run_id = started.reply<RunReply>().run_id;
  run.decide(Command{done});
  Named of_first;
  of_first.lists = {{TaskId{"then"}}, {}, {}};
  CHECK(run.decide(Report{ReportTaskContinues{TaskId{"first"}}}, of_first).shape() ==
        "task.dependency.updated");
  Named of_then;
  of_then.lists = {{}, {}, {}};
  of_then.job = run.job().record;
  const Outcome starts = run.decide(Report{ReportTaskContinues{TaskId{"then"}}}, of_then);
  CHECK(starts.shape() == "task.started task.attempt.started job.started");
  CHECK(starts.fact_of<JobStarted>().ids.run_id == created.fact_of<JobCreated>().ids.run_id);
  CHECK(run.job().record.status == JobStatus::running);
  run.first();
  CHECK(run.ends("1", 0).shape().ends_with("task.attempt.completed job.completed task.completed"));
}

TEST_CASE("jobs: a repeated create_job of a queued job gets the same reply after it has started") {
  Outcome created;
  JobRun run = queued_job(created);
  Named named;
  named.items = Named::Items{"out_1", 1, {}};
  named.job = run.job().record;
  named.job->status = JobStatus::completed;
  Inputs inputs = run.inputs();
  inputs.params_hash = *named.job->params_hash;
  inputs.named = named;
  const auto again = when(run.view(), Command{job_of("true")}, inputs).reply<CreateJobReply>();
  CHECK(again.status == JobStatus::queued);
  CHECK(again.sequence == created.reply<CreateJobReply>().sequence);
}

TEST_CASE("jobs: a queued job ends with its task, or its task with it") {
  Outcome created;
  JobRun run = queued_job(created);
  CHECK(run.on_task(CancelTask{.task_id = {}, .reason = "no"}).shape() ==
        "task.cancel_requested job.cancelled task.cancelled");
  CHECK_FALSE(run.running());
  CHECK(run.ended().status == JobStatus::cancelled);
  JobRun other = queued_job(created);
  CancelJob cancel;
  cancel.job_id = kJob;
  CHECK(other.decide(Command{cancel}).shape() == "job.cancelled task.cancelled");
}

}  // namespace
}  // namespace agentrt::control
