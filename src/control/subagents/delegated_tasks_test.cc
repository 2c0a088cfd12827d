#include <doctest/doctest.h>

#include "control/testing/task_desk.h"

namespace agentrt::control {

using namespace schema;

namespace {

const ThreadId kParent{"thread_parent"};

// A session with a task whose turn runs on kParent.
TaskDesk desk_at_work() {
  TaskDesk desk;
  CreateTask command = new_task("whole");
  command.thread_id = kParent;
  desk.command(command);
  desk.command(StartTask{.task_id = TaskId{"whole"}});
  return desk;
}

SpawnSubagent spawn_of(const char* task = nullptr) {
  SpawnSubagent command;
  command.session_id = state::kSession;
  command.thread_id = kParent;
  command.role = "helper";
  command.prompt = "help";
  command.subagent_id = SubagentId{"sub_1"};
  if (task) command.task_id = TaskId{task};
  return command;
}

SendSubagentInput more_input() {
  SendSubagentInput command;
  command.subagent_id = SubagentId{"sub_1"};
  command.input = {{InputKind::text, "more", {}, {}}};
  return command;
}

const state::Subagent& child_of(const TaskDesk& desk) {
  return desk.view().subagents.at(SubagentId{"sub_1"});
}

}  // namespace

TEST_CASE("an existing task is delegated: the child's turn is its next attempt") {
  TaskDesk desk = desk_at_work();
  desk.command(new_task("part"));
  const Outcome spawned = desk.command(spawn_of("part"));
  CHECK_FALSE(spawned.shape().contains("task.created"));
  const state::Task& part = desk.task("part");
  REQUIRE(open_attempt(part));
  CHECK(open_attempt(part)->worker.thread_id == child_of(desk).thread);
  CHECK(part.status == TaskStatus::running);
  REQUIRE(part.edges.size() == 1);
  CHECK(part.edges.front().relationship == "spawned_subagent");
  CHECK(part.edges.front().target_id == "sub_1");
  // A task with an open attempt is taken.
  SpawnSubagent second = spawn_of("part");
  second.subagent_id = SubagentId{"sub_2"};
  CHECK(desk.command(second).shape() == "refused: conflict");
}

TEST_CASE("a blocked task, one beneath a cancelled task and an unknown one are not delegated") {
  TaskDesk desk = desk_at_work();
  desk.command(new_task("first"));
  desk.command(new_task("then", {"first"}));
  const Outcome blocked = desk.command(spawn_of("then"));
  CHECK(blocked.shape() == "refused: conflict");
  CHECK(blocked.refusal().details.contains(R"("blockers":["first"])"));
  desk.command(CancelTask{.task_id = TaskId{"first"}, .reason = "no"});
  CHECK(desk.command(spawn_of("first")).shape() == "refused: conflict");
  CHECK(desk.command(spawn_of("none")).shape() == "refused: not_found");
}

TEST_CASE("the constraints of a delegated task cannot widen the child") {
  TaskDesk desk = desk_at_work();
  CreateTask wide = new_task("wide");
  wide.constraints = TaskConstraints{.mode = PermissionMode::bypass};
  desk.command(wide);
  const Outcome refused = desk.command(spawn_of("wide"));
  CHECK(refused.shape() == "refused: forbidden");
  CreateTask narrow = new_task("narrow");
  narrow.constraints =
      TaskConstraints{.mode = PermissionMode::plan, .tools = std::vector<std::string>{"read_file"}};
  desk.command(narrow);
  desk.command(spawn_of("narrow"));
  CHECK(child_of(desk).mode == PermissionMode::plan);
  CHECK(child_of(desk).tools == std::vector<std::string>{"read_file"});
}

TEST_CASE("cancelling a task cancels the work of the subagents below its turn") {
  TaskDesk desk = desk_at_work();
  desk.command(spawn_of());
  const TaskId child = child_of(desk).task;
  const Outcome cancelled =
      desk.command(CancelTask{.task_id = TaskId{"whole"}, .reason = "enough"});
  CHECK(cancelled.reply<TaskReply>().status == TaskStatus::cancelled);
  CHECK(desk.tasks().find(child)->status == TaskStatus::cancelled);
  CHECK(child_of(desk).status == ChildStatus::cancelled);
  CHECK(child_of(desk).open == 0);
  CHECK(cancelled.payload_of<SubagentFailed>().error->category == Category::cancelled);

  TaskDesk other = desk_at_work();
  other.command(spawn_of());
  other.command(CancelTask{.task_id = TaskId{"whole"}, .reason = "enough", .propagate = false});
  CHECK(child_of(other).status == ChildStatus::running);
}

TEST_CASE("a page of cancelled children ends a turn once, also one that is below another") {
  TaskDesk desk;
  desk.command(new_task("root"));
  CreateTask upper = new_task("upper");
  upper.thread_id = kParent;
  upper.parent_task_id = TaskId{"root"};
  desk.command(upper);
  desk.command(StartTask{.task_id = TaskId{"upper"}});
  CreateTask lower = new_task("lower");
  lower.parent_task_id = TaskId{"root"};
  desk.command(lower);
  desk.command(spawn_of("lower"));
  desk.command(CancelTask{.task_id = TaskId{"root"}, .reason = "enough"});
  desk.settle();
  CHECK(desk.task("root").status == TaskStatus::cancelled);
  CHECK(desk.task("upper").status == TaskStatus::cancelled);
  CHECK(desk.task("lower").status == TaskStatus::cancelled);
  CHECK(std::ranges::count_if(desk.log(), [](const Fact& fact) {
          return std::holds_alternative<TurnFailed>(fact.payload);
        }) == 2);
  CHECK(child_of(desk).open == 0);
}

TEST_CASE("a delegation that waits is not free to be claimed") {
  TaskDesk desk = desk_at_work();
  desk.command(spawn_of());
  desk.command(more_input());
  CHECK(child_of(desk).open == 2);
  const Outcome claimed =
      desk.command(ClaimTask{.session_id = state::kSession, .worker = external("w")});
  CHECK_FALSE(claimed.reply<RunReply>().task_id.has_value());
}

TEST_CASE("a retried delegation is a further one, until the child is closed") {
  TaskDesk desk = desk_at_work();
  CreateTask part = new_task("part");
  part.constraints = TaskConstraints{.timeout_ms = 1'000};
  desk.command(part);
  desk.command(spawn_of("part"));
  desk.wait(1'500);
  desk.tick();
  CHECK(desk.task("part").status == TaskStatus::timed_out);
  CHECK(child_of(desk).open == 0);
  const Outcome retried = desk.command(RetryTask{.task_id = TaskId{"part"}, .reason = "once more"});
  CHECK(retried.shape().contains("subagent.input"));
  CHECK(child_of(desk).open == 1);
  CHECK(child_of(desk).delegations == 2);
  CHECK(desk.task("part").attempts_made == 2);
  CloseSubagent close;
  close.subagent_id = SubagentId{"sub_1"};
  desk.wait(1'500);
  desk.tick();
  desk.command(close);
  CHECK(desk.command(RetryTask{.task_id = TaskId{"part"}, .reason = "again"}).shape() ==
        "refused: conflict");
}

namespace {

const state::Turn& turn_on(const TaskDesk& desk, const ThreadId& thread) {
  return *desk.view().threads.at(thread).active;
}

// The turn on kParent is prepared and spawns a subagent by a call.
TaskDesk desk_with_delegation() {
  TaskDesk desk = desk_at_work();
  ReportPrepared prepared;
  prepared.turn = turn_on(desk, kParent).ids.turn;
  prepared.context.cwd = "/w";
  prepared.policy.mode = PermissionMode::bypass;
  prepared.candidates = {{"main", "script", "m", {}, {}}};
  prepared.default_model = "main";
  desk.report(prepared);
  ReportModelCompleted spawns{.request = turn_on(desk, kParent).call->id};
  spawns.calls.push_back({"spawn_subagent", {R"({"role":"helper","prompt":"help"})"}});
  desk.report(spawns);
  return desk;
}

const state::Subagent& only_child(const TaskDesk& desk) {
  return desk.view().subagents.begin()->second;
}

InterruptTurn interrupt(const ThreadId& thread) {
  InterruptTurn command{.session_id = state::kSession};
  command.thread_id = thread;
  return command;
}

}  // namespace

TEST_CASE("a delegation is a child of the task that delegates") {
  TaskDesk desk = desk_with_delegation();
  REQUIRE(desk.view().subagents.size() == 1);
  const TaskId child = turn_on(desk, only_child(desk).thread).ids.task;
  CHECK(desk.task(child.text()).parent_task_id == TaskId{"whole"});
  CHECK(desk.task(child.text()).edges.front().relationship == "parent");
  CHECK(desk.task("whole").children_open == 1);
}

TEST_CASE("a task whose turn completes before its delegations completes when they have ended") {
  TaskDesk desk = desk_with_delegation();
  ReportModelCompleted done{.request = turn_on(desk, kParent).call->id};
  done.text = "done";
  done.text_bytes = 4;
  const Outcome ended = desk.report(done);
  CHECK(ended.payload_of<TaskBlocked>().reason == "acceptance");
  desk.settle();
  CHECK(desk.task("whole").status == TaskStatus::blocked);
  desk.command(interrupt(only_child(desk).thread));
  desk.settle();
  CHECK(desk.task("whole").status == TaskStatus::completed);
}

TEST_CASE("interrupting a turn ends its delegations in the same append, or releases them") {
  TaskDesk desk = desk_with_delegation();
  const TaskId child = turn_on(desk, only_child(desk).thread).ids.task;
  TaskDesk kept = desk;
  const Outcome both = desk.command(interrupt(kParent));
  CHECK(desk.task("whole").status == TaskStatus::cancelled);
  CHECK(desk.task(child.text()).status == TaskStatus::cancelled);
  CHECK_FALSE(both.shape().contains("task.cancel_requested"));
  InterruptTurn keep = interrupt(kParent);
  keep.subagents = SubagentKeep::keep;
  kept.command(keep);
  CHECK(kept.task("whole").status == TaskStatus::cancelled);
  CHECK(kept.task(child.text()).status == TaskStatus::running);
  CHECK_FALSE(kept.task(child.text()).parent_task_id);
}

TEST_CASE("a cancellation that does not propagate waits for the delegations that run") {
  for (const bool by_client : {false, true}) {
    CAPTURE(by_client);
    TaskDesk desk = by_client ? desk_at_work() : desk_with_delegation();
    if (by_client) desk.command(spawn_of());
    CancelTask cancel{.task_id = TaskId{"whole"}, .reason = "stop"};
    cancel.propagate = false;
    CHECK(desk.command(cancel).reply<TaskReply>().status == TaskStatus::cancelling);
    desk.settle();
    CHECK(desk.task("whole").status == TaskStatus::cancelling);
    CHECK(only_child(desk).open == 1);
    desk.command(interrupt(only_child(desk).thread));
    desk.settle();
    CHECK(desk.task("whole").status == TaskStatus::cancelled);
  }
}

}  // namespace agentrt::control
