// control/processes_test.cc: tests background processes: the end of their calls, input, their end,
// and refused commands.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "control/testing/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::request_of;

namespace {

const Settings& two_at_once() {
  static const Settings settings{.background_processes_max = 2, .default_cwd = "/w"};
  return settings;
}

Inputs inputs_of(const Given& past) {
  Inputs inputs = inputs_at(past.now());
  inputs.settings = &two_at_once();
  return inputs;
}

// A turn whose model requests these commands, all in the background.
struct Scene {
  Given past = asked_under(policy_in(PermissionMode::bypass));
  Inputs inputs = inputs_of(past);
  state::Session view;

  explicit Scene(const std::vector<std::string>& commands) {
    ReportModelCompleted report{.request = request_of("1")};
    for (const std::string& command : commands)
      report.calls.push_back(
          {"shell", {R"({"background":true,"command":)" + to_json(command) + "}"}});
    view = when(past.view(), report, inputs).after;
  }
  Outcome ready(const std::string& process, bool tty = false) {
    ReportProcessReady report;
    const state::Turn& turn = *view.threads.at(state::kThread).active;
    report.turn = turn.ids.turn;
    report.call = turn.tools.front().id;
    report.process = ProcessId{process};
    report.sandbox.mode = SandboxMode::workspace_write;
    report.started.command = "serve";
    report.started.background = true;
    report.started.tty = tty;
    return take(report);
  }
  template <class What>
  Outcome take(const What& what) {
    Outcome outcome = when(view, what, inputs);
    view = outcome.after;
    return outcome;
  }
};

ReportProcessEnded end_of(const std::string& process) {
  ReportProcessEnded report;
  report.process = ProcessId{process};
  report.exit_code = 0;
  return report;
}

Command write_to(const std::string& process, std::string input, bool close = false) {
  WriteProcessStdin command;
  command.process_id = ProcessId{process};
  command.input = std::move(input);
  if (close) command.close = true;
  return command;
}

Command end_command(const std::string& process) {
  TerminateProcess command;
  command.process_id = ProcessId{process};
  command.reason = "enough";
  return command;
}

}  // namespace

TEST_CASE("a call in the background ends with the commit that lets its process go") {
  Scene scene({"serve", "watch"});
  const Outcome first = scene.ready("proc_1");
  CHECK(first.shape() ==
        "sandbox.applied process.started tool.result item.completed item.started "
        "permission.evaluated tool.started run.status");
  CHECK(first.payload_of<ToolResult>().preview->find("proc_1") != std::string::npos);
  CHECK(first.payload_of<ToolResult>().is_error == false);
  REQUIRE(first.after.processes.size() == 1);
  const state::Process& process = first.after.processes.at(ProcessId{"proc_1"});
  CHECK(process.turn == state::turn_ids("1"));
  CHECK(process.boot == state::kBoot);
  CHECK(scene.ready("proc_2").shape().ends_with("item.completed model.requested"));
}

TEST_CASE("a session has so many in the background and no more") {
  Scene scene({"a", "b", "c"});
  scene.ready("proc_1");
  scene.ready("proc_2");
  const Outcome third = scene.ready("proc_3");
  CHECK(third.shape() == "tool.failed item.completed model.requested");
  CHECK(third.payload_of<ToolFailed>().error.category == Category::unavailable);
  CHECK(third.fact_of<ToolFailed>().ids.process_id.empty());
  CHECK(third.after.processes.size() == 2);
}

TEST_CASE("its output and its end are stored after its turn has ended, under the turn's ids") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  const ModelRequestId asked = scene.view.threads.at(state::kThread).active->call->id;
  CHECK(scene.take(ReportModelCompleted{.request = asked}).shape().ends_with("task.completed"));
  ReportProcessNews news;
  news.process = ProcessId{"proc_1"};
  news.output.push_back({OutputStream::stdout_, "hello", {}, 0, 5});
  news.output.push_back({OutputStream::stderr_, "[redacted:X]", {}, 0, 40});
  const Outcome told = scene.take(news);
  CHECK(told.shape() == "process.output process.output");
  CHECK(told.facts[0].ids.turn_id == TurnId{"turn_1"});
  CHECK(scene.view.processes.at(ProcessId{"proc_1"}).out_shown == 5);
  CHECK(scene.view.processes.at(ProcessId{"proc_1"}).err_shown == 40);
  const Outcome ended = scene.take(end_of("proc_1"));
  CHECK(ended.shape() == "process.completed");
  CHECK(scene.view.processes.empty());
  CHECK(scene.take(end_of("proc_1")).shape() == "unchanged");
}

TEST_CASE("what could not be kept of its output is warned about") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  ReportProcessEnded end = end_of("proc_1");
  end.outputs.push_back({.ref = OutputRef{"out_1"}, .size = 50, .whole_size = 200});
  end.lost.push_back({"stdout", 200, true, 50, "the disk was full"});
  end.lost.push_back({"stderr", 70, false, 0, "no room"});
  const Outcome ended = scene.take(end);
  CHECK(ended.shape() ==
        "runtime.warning runtime.warning output.spilled output.truncated process.completed");
  const auto& first = ended.payload_of<RuntimeWarning>();
  CHECK(first.code == "output_incomplete");
  CHECK(first.message ==
        "stdout of process proc_1 is incomplete: 50 of 200 bytes were stored: the disk was full");
}

TEST_CASE("how long it ran does not depend on what the wall clock was set to") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  constexpr std::int64_t kYear = 365LL * 24 * 3'600'000;
  scene.inputs.now = scene.inputs.now + kYear;
  scene.inputs.passed_since = [](Timestamp) { return 1'500; };
  CHECK(scene.take(end_of("proc_1")).payload_of<ProcessCompleted>().duration_ms == 1'500);
}

TEST_CASE("input is recorded as it is given, and refused where nothing can take it") {
  Scene scene({"cat"});
  scene.ready("proc_1");
  const Outcome written = scene.take(write_to("proc_1", "hello\n"));
  CHECK(written.shape() == "process.input");
  CHECK(written.payload_of<ProcessInput>().bytes == 6);
  CHECK(written.payload_of<ProcessInput>().preview == "hello\n");
  // Input that is too long for a preview has none.
  const Outcome much = scene.take(write_to("proc_1", std::string(kPreviewBytes + 1, 'x')));
  CHECK_FALSE(much.payload_of<ProcessInput>().preview.has_value());
  CHECK(scene.take(write_to("proc_1", std::string(kStdinBytesMax + 1, 'x'))).shape() ==
        "refused: invalid_params");
  CHECK(scene.take(write_to("proc_1", "")).shape() == "refused: invalid_params");
  CHECK(scene.take(write_to("proc_9", "x")).shape() == "refused: not_found");
  CHECK(scene.take(write_to("proc_1", "", true)).shape() == "process.input");
  CHECK(scene.take(write_to("proc_1", "more")).refusal().message ==
        "the input of process proc_1 is closed");
  scene.take(end_of("proc_1"));
  scene.inputs.named.process = ProcessStatus::completed;
  CHECK(scene.take(write_to("proc_1", "x")).refusal().message == "process proc_1 has ended");
}

TEST_CASE("only a terminal has a size") {
  Scene scene({"a", "b"});
  scene.ready("proc_1");
  scene.ready("proc_2", true);
  ResizeProcess resize;
  resize.process_id = ProcessId{"proc_1"};
  resize.rows = 50;
  resize.columns = 120;
  CHECK(scene.take(Command{resize}).shape() == "refused: conflict");
  resize.process_id = ProcessId{"proc_2"};
  CHECK(scene.take(Command{resize}).payload_of<ProcessInput>().columns == 120);
  resize.rows = kTerminalSizeMax + 1;
  CHECK(scene.take(Command{resize}).shape() == "refused: invalid_params");
}

TEST_CASE("a process is terminated once on request, and its end states the reason") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  const Outcome asked = scene.take(end_command("proc_1"));
  CHECK(asked.shape() == "process.input");
  CHECK(asked.payload_of<ProcessInput>().signal == "SIGTERM");
  CHECK(asked.reply<ProcessReply>().status == ProcessStatus::ending);
  CHECK(scene.take(end_command("proc_1")).shape() == "unchanged");
  const Outcome ended = scene.take(end_of("proc_1"));
  CHECK(ended.shape() == "process.terminated");
  CHECK(ended.payload_of<ProcessTerminated>().reason == "enough");
  scene.inputs.named.process = ProcessStatus::terminated;
  const Outcome late = scene.take(end_command("proc_1"));
  CHECK(late.shape() == "unchanged");
  CHECK(late.reply<ProcessReply>().status == ProcessStatus::terminated);
}

TEST_CASE("an interrupted turn leaves its processes alone, unless that is asked for") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  InterruptTurn interrupt;
  interrupt.session_id = state::kSession;
  CHECK(when(scene.view, Command{interrupt}, scene.inputs).all_of<ProcessInput>().empty());
  interrupt.processes = ProcessKeep::end;
  const Outcome ended = scene.take(Command{interrupt});
  CHECK(ended.payload_of<ProcessInput>().signal == "SIGTERM");
  CHECK(ended.payload_of<TurnFailed>().status == Status::cancelled);
}

TEST_CASE("a session with processes in the background is not archived") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  UpdateSession archive;
  archive.session_id = state::kSession;
  archive.archived = true;
  CHECK(scene.take(Command{archive}).shape() == "refused: conflict");
  scene.take(end_of("proc_1"));
  CHECK(scene.take(Command{archive}).shape() == "session.updated");
}

TEST_CASE("one that is found again after a restart is the next boot's") {
  Scene scene({"serve"});
  scene.ready("proc_1");
  scene.inputs.boot = BootId{"boot_2"};
  const Outcome found =
      scene.take(ReportProcessNotice{ProcessId{"proc_1"}, ReportProcessNotice::What::found});
  CHECK(found.shape() == "runtime.warning");
  CHECK(scene.view.processes.at(ProcessId{"proc_1"}).boot == BootId{"boot_2"});
  CHECK(found.thread().incidents.empty());
  const Outcome refused = scene.take(
      ReportProcessNotice{ProcessId{"proc_1"}, ReportProcessNotice::What::input_refused});
  CHECK(refused.payload_of<RuntimeWarning>().code == "input_refused");
  CHECK(refused.thread().incidents.size() == 1);
  ReportProcessEnded lost = end_of("proc_1");
  lost.exit_code.reset();
  lost.failure = Failure{Category::lost, "lost", false};
  CHECK(scene.take(lost).shape() == "process.failed");
  CHECK(scene.view.threads.at(state::kThread).incidents.back().kind == "process_failed");
}

}  // namespace agentrt::control
