// cli/views/task_view_test.cc: tests how tasks look.
#include "cli/views/task_view.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr Timestamp kNow{1'780'000'000'000};
constexpr Paper kPlain{100, Colour::off};

TaskSnapshot task(const std::string& id, TaskStatus status, const std::string& session = "demo") {
  TaskSnapshot out;
  out.task_id = TaskId{id};
  out.session_id = SessionId{session};
  out.title = "do " + id;
  out.status = status;
  return out;
}

// With an open attempt by a turn.
TaskSnapshot worked_on(const std::string& id, TaskStatus status) {
  TaskSnapshot out = task(id, status);
  out.current_run_id = RunId{"run_" + id};
  out.thread_id = ThreadId{"thread_" + id};
  out.turn_id = TurnId{"turn_" + id};
  AttemptSnapshot attempt;
  attempt.attempt_count = 1;
  attempt.worker = TaskWorker{WorkerKind::turn, out.thread_id, {}, {}};
  out.attempts = {attempt};
  return out;
}

std::string shown(std::vector<TaskSnapshot> tasks, std::vector<ActionSnapshot> actions = {}) {
  return tasks_text({std::move(tasks), std::move(actions), kNow}, kPlain, false);
}

}  // namespace

TEST_CASE("tasks: a task that waits for a person shows the request and how to answer it") {
  ActionSnapshot action;
  action.action_id = ActionId{"action_1"};
  action.turn_id = TurnId{"turn_a"};
  action.action_type = kPermissionAction;
  action.tool_name = "shell";
  action.input = Json{R"({"command":"make install"})"};
  TaskSnapshot waiting = worked_on("a", TaskStatus::waiting_permission);
  waiting.status_reason = "action";
  CHECK(shown({waiting}, {action}) ==
        "● do a           waiting permission  attempt 1 · thread thread_a · asks: make install\n"
        "   answer: agentrt approve action_1, or agentrt deny action_1\n");
}

TEST_CASE("tasks: reasons are words, and each has the next command") {
  TaskSnapshot queued = task("q", TaskStatus::queued);
  queued.status_reason = "thread";
  CHECK(shown({queued}) == "○ do q           queued    waits for an earlier turn of its thread\n");
  queued.status_reason = "worker";
  CHECK(shown({queued}).contains("waits for a worker to claim it"));
  CHECK(shown({task("d", TaskStatus::draft)})
            .ends_with(R"(accept: agentrt call update_task '{"taskId":"d","draft":false}')"
                       "\n"));
  TaskSnapshot retrying = task("r", TaskStatus::retrying);
  retrying.retry_at = kNow + 90'000;
  CHECK(shown({retrying}).contains("retry in 1 min 30 s"));
  CHECK(shown({retrying}).contains("retry now: agentrt call retry_task"));
  TaskSnapshot blocked = worked_on("b", TaskStatus::blocked);
  blocked.status_reason = "no_model";
  CHECK(shown({blocked}).contains(" · no model\n"));
  CHECK(shown({blocked}).contains("resume: agentrt run --session demo --thread thread_b\n"));
  blocked.status_reason = "restart";
  CHECK(shown({blocked}).contains("the runtime was restarted"));
  TaskSnapshot lacks = task("l", TaskStatus::blocked);
  lacks.missing = {{AcceptanceKind::artifact, "bin", "no"},
                   {AcceptanceKind::children, "children", "2 are open"}};
  CHECK(shown({lacks}).contains("lacks artifact bin, children\n"));
}

TEST_CASE("tasks: progress is phase, step and counters") {
  TaskSnapshot running = worked_on("a", TaskStatus::running);
  running.attempts[0].worker = TaskWorker{WorkerKind::external, {}, {}, "ci"};
  running.progress =
      ProgressNote{"verifying", "arm64", Json{R"({"files":3,"of": "all, of it"})"}, {}};
  CHECK(shown({running}).contains(
      "attempt 1 · worker ci · verifying, arm64, 3 files, of: all, of it\n"));
}

TEST_CASE("tasks: a blocker that has ended otherwise is named, and can be dropped") {
  TaskSnapshot waits = task("w", TaskStatus::blocked);
  waits.blockers = {TaskId{"x"}, TaskId{"y"}};
  const std::string text =
      shown({waits, task("x", TaskStatus::failed), task("y", TaskStatus::cancelled)});
  CHECK(text.contains("by do x (failed), do y (cancelled)\n"));
  CHECK(text.contains(R"('{"taskId":"w","kind":"blocked_by","targetId":"y"}')"));
}

TEST_CASE("tasks: those of several sessions are under the names of their sessions") {
  CHECK(shown({task("a", TaskStatus::completed)}) == "✓ do a           completed\n");
  CHECK(shown({task("b", TaskStatus::completed, "new"), task("a", TaskStatus::completed)}) ==
        "session new\n✓ do b           completed\nsession demo\n✓ do a           completed\n");
}

TEST_CASE("tasks: in a pipe nothing is shortened, and times do not change by themselves") {
  TaskSnapshot retrying = task("r", TaskStatus::retrying);
  retrying.title = std::string(200, 'x');
  retrying.retry_at = kNow + 90'000;
  const auto lines = task_lines({{retrying}, {}, kNow});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "● " + std::string(200, 'x') + "  retrying  retry at " + format(kNow + 90'000) +
            " · retry now: agentrt call retry_task '{\"taskId\":\"r\",\"reason\":\"…\"}'\n");
}

}  // namespace agentrt::cli
