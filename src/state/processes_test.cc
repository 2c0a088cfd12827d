// state/processes_test.cc: background processes in views, index rows and snapshots.
#include "state/processes.h"

#include <doctest/doctest.h>

#include "state/index.h"
#include "state/read_models.h"
#include "state/testing/given.h"

namespace agentrt::state {

using namespace schema;

namespace {

ProcessScope scope_of(const std::string& process) {
  return {ToolScope{turn_scope("1"), StepId{"step_9"}, ToolCallId{"call_1"}}, ProcessId{process}};
}

Given with_process() {
  return Given{}.session().thread_started().running("1").asked("1").fact(
      scope_of("proc_1"), ProcessStarted{.command = "serve", .background = true, .boot_id = kBoot});
}

const Process& only(const Given& past) { return past.view().processes.at(ProcessId{"proc_1"}); }

ObjectRow row_of(const Given& past) {
  for (ObjectRow& row : index(past.view(), past.log().back()))
    if (row.kind == kProcessKind) return row;
  FAIL("no row of a process");
  return {};
}

}  // namespace

TEST_CASE("a process in the background is open until it ends, whatever becomes of its turn") {
  Given past = with_process().completed("1");
  CHECK(only(past).turn == turn_ids("1"));
  past.fact(scope_of("proc_1"), ProcessCompleted{.exit_code = 3});
  CHECK(past.view().processes.empty());
  CHECK(past.view().ended_process->exit_code == 3);
  // A second end, or output after the end, is ignored.
  past.fact(scope_of("proc_1"), ProcessOutput{.text = "x", .offset = 9});
  CHECK(past.view().ended_process->out_shown == 0);
}

TEST_CASE("output continues where the facts end, whatever length the text has") {
  Given past = with_process();
  past.fact(scope_of("proc_1"), ProcessOutput{.text = "abc", .offset = 0, .next_offset = 3})
      .fact(scope_of("proc_1"),
            ProcessOutput{.text = "[redacted:KEY]", .offset = 3, .next_offset = 60})
      .fact(scope_of("proc_1"),
            ProcessOutput{.stream = OutputStream::stderr_, .text = "e", .offset = 0});
  CHECK(only(past).out_shown == 60);
  CHECK(only(past).err_shown == 1);
  past.fact(scope_of("proc_2"), ProcessOutput{.text = "of another", .offset = 100});
  CHECK(only(past).out_shown == 60);
}

TEST_CASE("its row says that it is open, that it is being ended, and how it ended") {
  Given past = with_process();
  CHECK(row_of(past).open);
  CHECK(row_of(past).status == "running");
  CHECK(row_of(past).first == past.view().sequence);
  CHECK(row_of(past).parent == kThread.text());
  past.fact(scope_of("proc_1"), ProcessInput{.bytes = 3});
  CHECK(index(past.view(), past.log().back()).empty());
  past.fact(scope_of("proc_1"), ProcessInput{.signal = "SIGTERM", .reason = "enough"});
  CHECK(row_of(past).status == "ending");
  past.fact(scope_of("proc_1"), ProcessTerminated{.reason = "enough"});
  CHECK_FALSE(row_of(past).open);
  CHECK(row_of(past).status == "terminated");
  CHECK(row_of(past).first == only(with_process()).first);
}

TEST_CASE("a process of the foreground has no row and is no process of the session") {
  Given past = Given{}.session().thread_started().running("1").asked("1").fact(
      scope_of("proc_1"), ProcessStarted{.command = "ls", .boot_id = kBoot});
  CHECK(past.view().processes.empty());
  CHECK(index(past.view(), past.log().back()).empty());
}

TEST_CASE("one that this boot has not found again may still exist, and is called unknown") {
  Given past = with_process();
  const BootId next{"boot_2"};
  CHECK(environment_snapshot(past.view(), {}, kBoot).processes[0].status == ProcessStatus::running);
  CHECK(environment_snapshot(past.view(), {}, next).processes[0].status == ProcessStatus::unknown);
  past.fact(scope_of("proc_1"), RuntimeWarning{.code = "process_found", .boot_id = next});
  CHECK(environment_snapshot(past.view(), {}, next).processes[0].status == ProcessStatus::running);
  CHECK(session_snapshot(past.view()).processes.size() == 1);
  CHECK(session_summary(past.view()).processes == 1);
}

TEST_CASE("the environment is that of the turn which was prepared last") {
  const ThreadId other{"thread_2"};
  Given past = Given{}.session().thread_started().running("1");
  CHECK_FALSE(environment_snapshot(past.view(), {}, kBoot).environment);
  ExecutionEnvironment first, second;
  first.cwd = "/one";
  second.cwd = "/two";
  past.fact(turn_scope("1"), ContextResolved{.environment = recorded(first)})
      .thread_started(other)
      .running("2", other)
      .fact(turn_scope("2", other), ContextResolved{.environment = recorded(second)});
  CHECK(environment_snapshot(past.view(), {}, kBoot).environment == second);
  CHECK(environment_snapshot(past.view(), {}, kBoot).turn_id == TurnId{"turn_2"});
  CHECK(environment_snapshot(past.view(), kThread, kBoot).environment == first);
}

}  // namespace agentrt::state
