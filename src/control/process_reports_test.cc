// control/process_reports_test.cc: tests tool calls: which run, in which order, and how they end.
#include <doctest/doctest.h>

#include "control/testing/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::request_of;

namespace {

Inputs inputs_of(const Given& past, const Settings& settings = usual_settings()) {
  Inputs inputs = inputs_at(past.now());
  inputs.settings = &settings;
  return inputs;
}

Given alone() { return asked_under(policy_in(PermissionMode::bypass)); }

constexpr std::string_view kRefused =
    " item.started permission.evaluated tool.started tool.failed item.completed";

}  // namespace

TEST_CASE("in mode bypass a call starts, and the turn waits for it") {
  const Given past = alone();
  const Outcome outcome = when(past.view(), asks_for({"ls"}), inputs_of(past));
  CHECK(outcome.shape() ==
        "model.completed item.started permission.evaluated tool.started run.status");
  CHECK(outcome.payload_of<ModelCompleted>().tool_calls.size() == 1);
  CHECK(outcome.payload_of<PermissionEvaluated>().decision == Decision::allow);
  CHECK(outcome.payload_of<ItemStarted>().kind == ItemKind::command);
  CHECK(first_tool(outcome.after).stage == state::CallStage::started);
  CHECK(outcome.thread().status == Status::running);
}

TEST_CASE("in mode plan the call is refused, and the model is asked again with that") {
  const Given past = asked_under(policy_in(PermissionMode::plan));
  const Outcome outcome = when(past, asks_for({"ls"}));
  CHECK(outcome.shape() == "model.completed" + std::string(kRefused) + " model.requested");
  CHECK(outcome.payload_of<PermissionEvaluated>().decision == Decision::deny);
  CHECK(outcome.payload_of<ToolFailed>().error.category == Category::denied);
  CHECK(outcome.payload_of<ModelRequested>().number == 2);
}

TEST_CASE("a call of no tool, or with wrong arguments, is refused in words a model can act on") {
  const Given past = alone();
  ReportModelCompleted report{.request = request_of("1")};
  report.calls = {{"rm", {"{}"}},
                  {"shell", {R"({"cmd":"ls"})"}},
                  {"shell", {R"({"command":""})"}},
                  {"shell", {R"({"command":"ls","timeoutMs":0})"}},
                  {"", {"{}"}}};
  const Outcome outcome = when(past.view(), report, inputs_of(past));
  const auto failures = outcome.all_of<ToolFailed>();
  REQUIRE(failures.size() == 5);
  CHECK(
      failures[4].error.message.starts_with("the call has no tool name; the built-in tools are: "));
  CHECK(failures[0].error.category == Category::not_found);
  CHECK(failures[0].error.message.starts_with(
      "there is no tool rm; the built-in tools are: shell, read_file, "));
  CHECK(failures[1].error.message == "command: is required and missing");
  CHECK(failures[2].error.message == "command: must not be empty");
  CHECK(failures[3].error.message == "timeoutMs: must be at least 1");
  CHECK(outcome.shape().ends_with("model.requested"));
  CHECK(outcome.all_of<PermissionEvaluated>().empty());
}

TEST_CASE(
    "arguments that were too many to be kept are refused, and what stands beside is bounded") {
  const Given past = asked_under(policy_in(PermissionMode::plan));
  ReportModelCompleted report{.request = request_of("1")};
  report.calls = {{"shell", {R"({"command":")" + std::string(40'000, 'x') + R"("})"}},
                  {"shell", {"{}"}, true}};
  report.text = std::string(30'000, 'y');
  report.text_bytes = report.text.size();
  report.pieces = {{false, report.text}};
  const Outcome outcome = when(past.view(), report, inputs_of(past));
  CHECK_FALSE(outcome.payload_of<ModelCompleted>().text.has_value());
  CHECK(outcome.payload_of<ModelCompleted>().output_ref.has_value());
  const auto failures = outcome.all_of<ToolFailed>();
  REQUIRE(failures.size() == 2);
  CHECK(failures[1].error.message ==
        "the arguments of all calls in one answer are larger than 48 KiB in total; work in smaller "
        "steps");
}

TEST_CASE("a turn that ends before anyone knows how its process did, says so") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  Inputs later = inputs_of(past);
  later.boot = BootId{"boot_2"};
  InterruptTurn interrupt;
  interrupt.session_id = state::kSession;
  const Outcome outcome = when(ready.after, Command{interrupt}, later);
  CHECK(outcome.all_of<ProcessTerminated>().empty());
  CHECK(outcome.payload_of<ProcessFailed>().error->category == Category::lost);
}

TEST_CASE("a process is released after the facts about its sandbox and itself") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  CHECK(ready.shape() == "sandbox.applied process.started");
  CHECK(ready.fact_of<ProcessStarted>().ids.process_id == ProcessId{"proc_1"});
  CHECK(ready.payload_of<ProcessStarted>().boot_id == state::kBoot);
  // A repeated report changes nothing.
  CHECK(when(ready.after, ready_of(ready.after), inputs_of(past)).shape() == "unchanged");
}

TEST_CASE("calls run one after another, and the model is asked again after the last") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls", "pwd"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  const Outcome first = when(ready.after, end_of(ready.after, 0), inputs_of(past));
  CHECK(first.shape() ==
        "process.completed tool.result item.completed item.started permission.evaluated "
        "tool.started run.status");
  CHECK(first.payload_of<ToolResult>().is_error == false);
  const Outcome second = when(first.after, ready_of(first.after), inputs_of(past));
  const Outcome last = when(second.after, end_of(second.after, 3), inputs_of(past));
  CHECK(last.shape() == "process.completed tool.result item.completed model.requested");
  CHECK(last.payload_of<ToolResult>().is_error == true);
  CHECK(last.payload_of<ItemCompleted>().error->message == "exit code 3");
  CHECK(last.thread().active->tools.empty());
}

TEST_CASE("a process that never ran, timed out or was lost is told apart") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls"}), inputs_of(past));
  ReportProcessEnded refused = end_of(asked.after, 0);
  refused.exit_code.reset();
  refused.failure = Failure{Category::sandbox, "no user namespaces", false};
  CHECK(when(asked.after, refused, inputs_of(past)).shape() ==
        "tool.failed item.completed model.requested");
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  ReportProcessEnded late = refused;
  late.failure = Failure{Category::timeout, "too slow", true};
  CHECK(when(ready.after, late, inputs_of(past)).shape() ==
        "process.terminated tool.failed item.completed model.requested");
  late.failure = Failure{Category::lost, "lost", false};
  CHECK(when(ready.after, late, inputs_of(past)).shape() ==
        "process.failed tool.failed item.completed model.requested");
}

TEST_CASE("an interrupted turn ends its process, its call and its item") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls", "pwd"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  InterruptTurn interrupt;
  interrupt.session_id = state::kSession;
  const Outcome outcome = when(ready.after, Command{interrupt}, inputs_of(past));
  CHECK(outcome.shape() ==
        "process.terminated tool.failed item.completed task.attempt.failed turn.failed "
        "task.cancelled");
  CHECK(outcome.payload_of<ItemCompleted>().status == Status::cancelled);
  // Later reports of the process change nothing.
  CHECK(when(outcome.after, end_of(ready.after, 0), inputs_of(past)).shape() == "unchanged");
}

TEST_CASE("a call that is cut off says how long it ran, by the time of the facts") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls", "pwd"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  Inputs later = inputs_of(past);
  later.now = later.now + 4'000;
  InterruptTurn interrupt;
  interrupt.session_id = state::kSession;
  const Outcome outcome = when(ready.after, Command{interrupt}, later);
  CHECK(outcome.payload_of<ToolFailed>().duration_ms == 4'000);
  // A wall clock that was set back does not give a negative duration.
  Inputs earlier = inputs_of(past);
  earlier.now = earlier.now + -4'000;
  CHECK(when(ready.after, Command{interrupt}, earlier).payload_of<ToolFailed>().duration_ms == 0);
}

TEST_CASE("what an earlier boot started took as long as the facts say, not as this boot saw it") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  ReportProcessEnded end = end_of(ready.after, 0);
  end.duration_ms = 12;
  Inputs later = inputs_of(past);
  later.now = later.now + 9'000;
  CHECK(when(ready.after, end, later).payload_of<ToolResult>().duration_ms == 12);
  later.boot = BootId{"boot_2"};
  CHECK(when(ready.after, end, later).payload_of<ToolResult>().duration_ms == 9'000);
}

TEST_CASE("a turn may ask the model so often and no more") {
  Settings few = usual_settings();
  few.turn_steps_max = 1;
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls"}), inputs_of(past, few));
  const Outcome ended = when(asked.after, end_of(asked.after, 0), inputs_of(past, few));
  CHECK(ended.shape() == "tool.result item.completed task.attempt.failed turn.failed task.failed");
  CHECK(ended.payload_of<TurnFailed>().error->message ==
        "the turn reached the limit of 1 model requests (limits.turn_steps); continue with another "
        "prompt, or raise the limit in the configuration");
}

TEST_CASE("while the thread is blocked an end is stored and nothing is asked") {
  const Given past = alone();
  const Outcome asked = when(past.view(), asks_for({"ls"}), inputs_of(past));
  const Outcome ready = when(asked.after, ready_of(asked.after), inputs_of(past));
  Inputs later = inputs_of(past);
  later.boot = BootId{"boot_2"};
  const Outcome restarted = when(ready.after, Report{ReportRestarted{}}, later);
  CHECK(restarted.shape() == "task.blocked run.status thread.updated");
  ReportProcessEnded lost = end_of(restarted.after, 0);
  lost.exit_code.reset();
  lost.failure = Failure{Category::lost, "lost", false};
  CHECK(when(restarted.after, lost, later).shape() == "process.failed tool.failed item.completed");
}

}  // namespace agentrt::control
