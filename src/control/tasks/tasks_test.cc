// control/tasks/tasks_test.cc: tests decisions about tasks.
#include <doctest/doctest.h>

#include "control/testing/task_desk.h"

namespace agentrt::control {
namespace {

using namespace schema;

RunId claim(TaskDesk& desk, const std::string& name = "ci") {
  const auto reply =
      desk.command(ClaimTask{.session_id = state::kSession, .worker = external(name)})
          .reply<RunReply>();
  REQUIRE(reply.run_id);
  return *reply.run_id;
}

RunId start(TaskDesk& desk, const std::string& id) {
  const Outcome outcome = desk.command(StartTask{.task_id = TaskId{id}, .worker = external("ci")});
  REQUIRE(outcome.shape() == "task.started task.attempt.started");
  return *outcome.reply<RunReply>().run_id;
}

CompleteTask completes(const std::string& id, const RunId& run) {
  CompleteTask command{.task_id = TaskId{id}};
  command.run_id = run;
  return command;
}

FailTask fails(const std::string& id, const RunId& run, bool retryable = true) {
  return {
      .task_id = TaskId{id}, .run_id = run, .error = {Category::exit_nonzero, "exit 1", retryable}};
}

StartTask by_turn(const std::string& id) {
  return {.task_id = TaskId{id}, .worker = TaskWorker{WorkerKind::turn, ThreadId{"t"}, {}, {}}};
}

TEST_CASE("a task is created once: the same id with other params is refused") {
  TaskDesk desk;
  CHECK(desk.command(new_task("a")).shape() == "task.created");
  CHECK(desk.command(new_task("a")).shape() == "unchanged");
  desk.settings.user = "x";
  CreateTask other = new_task("a");
  other.objective = "";
  CHECK(desk.command(other).shape() == "unchanged");  // the hash tells, not the members
  CHECK(desk.command(new_task("b", {"missing"})).shape() == "refused: not_found");
}

TEST_CASE("of two claims one gets the task") {
  TaskDesk desk;
  desk.command(new_task("a"));
  const RunId run = claim(desk);
  const auto second =
      desk.command(ClaimTask{.session_id = state::kSession, .worker = external("other")});
  CHECK(second.shape() == "unchanged");
  CHECK_FALSE(second.reply<RunReply>().task_id);
  CHECK(
      desk.command(StartTask{.task_id = TaskId{"a"}, .worker = external("x")}).refusal().details ==
      R"({"taskId":"a","status":"running"})");
  CHECK(desk.task("a").current_run_id == run);
}

TEST_CASE("a claim takes the oldest free task that nobody else is assigned to") {
  TaskDesk desk;
  CreateTask assigned = new_task("theirs");
  assigned.assignee = "other";
  desk.command(assigned);
  CreateTask kind = new_task("special");
  kind.task_kind = "build";
  desk.command(kind);
  desk.command(new_task("plain"));
  ClaimTask command{.session_id = state::kSession, .worker = external("ci")};
  CHECK(desk.command(command).reply<RunReply>().task_id == TaskId{"special"});
  CHECK(desk.command(command).reply<RunReply>().task_id == TaskId{"plain"});
  CHECK_FALSE(desk.command(command).reply<RunReply>().task_id);
  command.worker = external("other");
  command.task_kind = "build";
  CHECK_FALSE(desk.command(command).reply<RunReply>().task_id);
  command.task_kind.reset();
  CHECK(desk.command(command).reply<RunReply>().task_id == TaskId{"theirs"});
}

TEST_CASE("a report of any run but the open one is refused") {
  TaskDesk desk;
  CreateTask task = new_task("a");
  task.retry_policy = RetryPolicy{.max_attempts = 3};
  desk.command(task);
  const RunId first = start(desk, "a");
  CHECK(desk.command(fails("a", first)).reply<TaskReply>().status == TaskStatus::retrying);
  CHECK(desk.command(completes("a", first)).shape() == "refused: conflict");
  CHECK(desk.command(AppendTaskProgress{.task_id = TaskId{"a"}, .run_id = first}).shape() ==
        "refused: conflict");
  desk.tick();
  CHECK(desk.task("a").status == TaskStatus::queued);
  const RunId second = claim(desk);
  CHECK(second != first);
  CHECK(desk.command(completes("a", first)).shape() == "refused: conflict");
  CHECK(desk.command(completes("a", second)).shape() == "task.attempt.completed task.completed");
  CHECK(desk.task("a").attempts.size() == 2);
  CHECK(desk.task("a").attempts[0].status == Status::failed);
  CHECK(desk.task("a").attempts[1].attempt_count == 2);
}

TEST_CASE("a policy retries with a growing delay, until its limit or an error that forbids it") {
  TaskDesk desk;
  CreateTask task = new_task("a");
  task.retry_policy = RetryPolicy{.max_attempts = 3, .backoff_ms = 100, .backoff_factor = 3};
  desk.command(task);
  RunId run = start(desk, "a");
  CHECK(desk.command(fails("a", run)).reply<TaskReply>().retry_at == desk.now() + 100);
  desk.wait(99);
  desk.tick();
  CHECK(desk.task("a").status == TaskStatus::retrying);
  desk.wait(1);
  desk.tick();
  run = claim(desk);
  CHECK(desk.command(fails("a", run)).reply<TaskReply>().retry_at == desk.now() + 300);
  desk.wait(300);
  desk.tick();
  run = claim(desk);
  CHECK(desk.command(fails("a", run)).shape() == "task.attempt.failed task.failed");
  CHECK(desk.task("a").attempts.size() == 3);
  // A command may retry beyond the policy.
  const auto again = desk.command(RetryTask{.task_id = TaskId{"a"}, .reason = "once more"});
  CHECK(again.shape() == "task.retrying task.started task.attempt.started");
  CHECK(again.payload_of<TaskRetrying>().previous_status == TaskStatus::failed);
  CHECK(again.reply<RunReply>().attempt_count == 4);

  CreateTask once = new_task("b");
  once.retry_policy = RetryPolicy{.max_attempts = 3};
  desk.command(once);
  run = start(desk, "b");
  CHECK(desk.command(fails("b", run, false)).shape() == "task.attempt.failed task.failed");
}

TEST_CASE("a silent worker is lost, and its run can never report again") {
  TaskDesk desk;
  CreateTask task = new_task("a");
  task.retry_policy = RetryPolicy{.max_attempts = 5};
  desk.command(task);
  const RunId run = start(desk, "a");
  CHECK(state::heartbeat_of(desk.task("a")) == 60'000);
  const auto lost = desk.report(ReportTaskSilent{TaskId{"a"}, run});
  CHECK(lost.shape() == "task.attempt.failed task.lost");
  CHECK(lost.payload_of<TaskAttemptFailed>().status == Status::lost);
  CHECK(desk.command(completes("a", run)).shape() == "refused: conflict");
  CHECK(desk.report(ReportTaskSilent{TaskId{"a"}, run}).shape() == "unchanged");

  CreateTask repeatable = new_task("b");
  repeatable.retry_policy = RetryPolicy{.max_attempts = 5};
  repeatable.constraints = TaskConstraints{.repeatable = true};
  desk.command(repeatable);
  const RunId other = start(desk, "b");
  CHECK(desk.report(ReportTaskSilent{TaskId{"b"}, other}).shape() ==
        "task.attempt.failed task.retrying");
}

TEST_CASE("only the completion of the last dependency frees a task") {
  TaskDesk desk;
  desk.command(new_task("a"));
  desk.command(new_task("b"));
  CHECK(desk.command(new_task("c", {"a", "b"})).reply<TaskReply>().status == TaskStatus::blocked);
  const auto early = desk.command(StartTask{.task_id = TaskId{"c"}, .worker = external("x")});
  CHECK(early.shape() == "refused: conflict");
  CHECK(early.refusal().details.contains(R"("blockers":["a","b"])"));
  const RunId a = start(desk, "a");
  desk.command(completes("a", a));
  desk.settle();
  CHECK(desk.task("c").status == TaskStatus::blocked);
  const RunId b = start(desk, "b");
  desk.command(fails("b", b));
  desk.settle();
  CHECK(desk.task("c").status == TaskStatus::blocked);
  const auto again = desk.command(RetryTask{.task_id = TaskId{"b"}, .reason = "again"});
  desk.command(completes("b", *again.reply<RunReply>().run_id));
  desk.settle();
  CHECK(desk.task("c").status == TaskStatus::accepted);
  CHECK(desk.task("a").dependants == 0);
}

TEST_CASE("a blocked task that is started with a turn starts by itself") {
  TaskDesk desk;
  desk.command(new_task("a"));
  desk.command(new_task("b", {"a"}));
  const auto queued = desk.command(by_turn("b"));
  CHECK(queued.shape() == "task.queued");
  CHECK(queued.reply<RunReply>().blockers == std::vector{TaskId{"a"}});
  const RunId run = start(desk, "a");
  desk.command(completes("a", run));
  desk.settle();
  CHECK(desk.task("b").status == TaskStatus::running);
  const state::Turn* turn = state::find_turn(desk.view(), *desk.task("b").turn_id);
  REQUIRE(turn);
  CHECK(turn->source == "task");
  CHECK(turn->ids.run == desk.task("b").current_run_id);
}

TEST_CASE("many dependants are unblocked in pages") {
  TaskDesk desk;
  desk.command(new_task("a"));
  for (int i = 0; i < 40; ++i) desk.command(new_task(fmt::format("w{}", i), {"a"}));
  const RunId run = start(desk, "a");
  desk.command(completes("a", run));
  const auto page = desk.report(ReportTaskContinues{TaskId{"a"}});
  CHECK(page.all_of<TaskAccepted>().size() == kTaskPageMax);
  CHECK(state::continues(desk.task("a")));
  desk.settle();
  for (int i = 0; i < 40; ++i)
    CHECK(desk.task(fmt::format("w{}", i)).status == TaskStatus::accepted);
}

TEST_CASE("cycles are refused with their path, through parents too") {
  TaskDesk desk;
  desk.command(new_task("a"));
  desk.command(new_task("b", {"a"}));
  desk.command(new_task("c", {"b"}));
  LinkTasks link{.task_id = TaskId{"a"}, .kind = EdgeKind::blocked_by, .target_id = "c"};
  const auto cycle = desk.command(link);
  CHECK(cycle.shape() == "refused: conflict");
  CHECK(cycle.refusal().details == R"({"path":["c","b","a"]})");
  CreateTask child = new_task("d", {"c"});
  child.parent_task_id = TaskId{"a"};  // a waits for its child, the child for c, and c for a
  CHECK(desk.command(child).shape() == "refused: conflict");
  link.target_id = "a";
  CHECK(desk.command(link).shape() == "refused: conflict");
}

TEST_CASE("completion needs what the acceptance names, stored artifacts and ended children") {
  TaskDesk desk;
  CreateTask task = new_task("a");
  task.acceptance = std::vector<Acceptance>{{AcceptanceKind::artifact, "report"},
                                            {AcceptanceKind::statement, "reviewed"}};
  task.delivery_state = DeliveryStatus::pending;
  desk.command(task);
  CreateTask child = new_task("child");
  child.parent_task_id = TaskId{"a"};
  desk.command(child);
  const RunId run = start(desk, "a");
  CompleteTask command = completes("a", run);
  auto refused = desk.command(command);
  CHECK(refused.shape() == "refused: conflict");
  CHECK(refused.refusal().details.contains(R"("kind":"artifact","name":"report")"));
  CHECK(refused.refusal().details.contains(R"("kind":"statement","name":"reviewed")"));
  CHECK(refused.refusal().details.contains(R"("kind":"delivery")"));
  CHECK(refused.refusal().details.contains(R"("kind":"children")"));
  const RunId of_child = start(desk, "child");
  desk.command(completes("child", of_child));
  command.artifacts = std::vector<TaskArtifact>{{"report", "out_1"}};
  command.satisfied = std::vector<std::string>{"reviewed"};
  command.delivery_state = DeliveryStatus::delivered;
  refused = desk.command(command);
  CHECK(refused.refusal().details.contains("out_1 is not stored"));
  desk.stored_refs = {"out_1"};
  CHECK(desk.command(command).shape() == "task.attempt.completed task.completed");
}

TEST_CASE("a cancellation reaches all children in pages, and nothing starts beneath it") {
  TaskDesk desk;
  desk.command(new_task("top"));
  for (int i = 0; i < 40; ++i) {
    CreateTask child = new_task(fmt::format("c{}", i));
    child.parent_task_id = TaskId{"top"};
    desk.command(child);
  }
  CreateTask grandchild = new_task("g");
  grandchild.parent_task_id = TaskId{"c7"};
  desk.command(grandchild);
  const RunId run = start(desk, "c3");
  const auto cancelled = desk.command(CancelTask{.task_id = TaskId{"top"}, .reason = "no"});
  CHECK(cancelled.shape() == "task.cancel_requested");
  CHECK(cancelled.reply<TaskReply>().status == TaskStatus::cancelling);
  // The intent holds before the pages have reached the child.
  const auto late = desk.command(StartTask{.task_id = TaskId{"g"}, .worker = external("x")});
  CHECK(late.shape() == "refused: conflict");
  CHECK(late.refusal().details.contains("top"));
  CreateTask beneath = new_task("late");
  beneath.parent_task_id = TaskId{"c7"};
  CHECK(desk.command(beneath).shape() == "refused: conflict");
  desk.settle();
  CHECK(desk.task("g").status == TaskStatus::cancelled);
  CHECK(desk.task("c3").status == TaskStatus::cancelling);  // its worker has not confirmed
  CHECK(desk.task("top").status == TaskStatus::cancelling);
  CHECK(desk.command(AppendTaskProgress{.task_id = TaskId{"c3"}, .run_id = run})
            .reply<TaskReply>()
            .status == TaskStatus::cancelling);
  SUBCASE("the worker confirms") {
    CHECK(desk.command(fails("c3", run)).shape() == "task.attempt.failed task.cancelled");
  }
  SUBCASE("the worker does not confirm in time") {
    desk.wait(2'000);
    desk.tick();
    CHECK(desk.task("c3").attempts.back().status == Status::lost);
  }
  desk.settle();
  CHECK(desk.task("c3").status == TaskStatus::cancelled);
  CHECK(desk.task("top").status == TaskStatus::cancelled);
}

TEST_CASE("time limits end attempts and tasks") {
  TaskDesk desk;
  CreateTask task = new_task("a");
  task.constraints = TaskConstraints{.timeout_ms = 100, .deadline_ms = 1'000};
  task.retry_policy = RetryPolicy{.max_attempts = 9};
  desk.command(task);
  start(desk, "a");
  desk.wait(50);
  desk.command(PauseTask{.task_id = TaskId{"a"}});
  desk.wait(200);
  desk.tick();
  CHECK(desk.task("a").status == TaskStatus::paused);
  desk.command(ResumeTask{.task_id = TaskId{"a"}});
  desk.wait(50);
  desk.tick();
  CHECK(desk.task("a").attempts.back().status == Status::timed_out);
  CHECK(desk.task("a").status == TaskStatus::retrying);
  desk.tick();
  claim(desk);
  desk.wait(800);
  desk.tick();
  CHECK(desk.task("a").status == TaskStatus::timed_out);
}

TEST_CASE("constraints that approve in advance need the scope for every start") {
  TaskDesk desk;
  CreateTask task = new_task("a");
  task.constraints = TaskConstraints{.mode = PermissionMode::bypass};
  desk.approver = false;
  CHECK(desk.command(task).shape() == "refused: forbidden");
  desk.approver = true;
  desk.command(task);
  desk.approver = false;
  CHECK(desk.command(by_turn("a")).shape() == "refused: forbidden");
  CHECK(desk.command(UpdateTask{.task_id = TaskId{"a"}, .title = "x"}).shape() ==
        "refused: forbidden");
}

TEST_CASE("a turn on an existing task is its next attempt") {
  TaskDesk desk;
  desk.command(new_task("a"));
  SubmitTurn submit{
      .session_id = state::kSession, .thread_id = ThreadId{"t"}, .input = {text_part("go")}};
  submit.task_id = TaskId{"a"};
  CHECK(desk.command(submit).shape() ==
        "thread.started turn.submitted task.started task.attempt.started turn.started run.status");
  CHECK(desk.command(submit).shape() == "refused: conflict");
  const auto cancelled = desk.command(CancelTask{.task_id = TaskId{"a"}, .reason = "enough"});
  CHECK(cancelled.shape() ==
        "task.cancel_requested task.attempt.failed turn.failed task.cancelled");
}

}  // namespace
}  // namespace agentrt::control
