// sim/tools_test.cc: tests tool calls in virtual time: with a crash between any two steps, no
// command runs twice.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/node.h"
#include "validate/judge.h"

namespace agentrt::sim {
namespace {

const SessionId kSession{"s"};

Node::Options with_tools() {
  Node::Options options;
  options.policy.mode = schema::PermissionMode::bypass;
  options.answers = {{{"Looking."}, 5, {}, {"ls", "exit 3"}}, {{"Done."}, 5, {}, {}}};
  return options;
}

std::string submit(const std::string& turn) {
  return fmt::format(R"({{"sessionId":"s","threadId":"t","turnId":"{}",)"
                     R"("input":[{{"type":"text","text":"go"}}]}})",
                     turn);
}

std::size_t count(const std::vector<schema::StoredEvent>& log, std::string_view type) {
  return static_cast<std::size_t>(std::ranges::count(log, type, &schema::StoredEvent::type));
}

// What the validator finds in the session's stream; empty: nothing.
std::string judged(Node& node) {
  validate::Judge judge;
  for (const schema::StoredEvent& event : node.log(kSession)) {
    std::string line;
    schema::write_event(line, event);
    judge.line(line);
  }
  const validate::Report& report = judge.finish();
  return report.counts.empty() ? "" : render(report, validate::Format::text, "s");
}

}  // namespace

TEST_CASE("a turn runs its commands one after another and ends with the model's last word") {
  Node node(with_tools());
  node.ask("submit_turn", submit("u1"));
  node.settle();
  const auto log = node.log(kSession);
  CHECK(log.back().type == "task.completed");
  CHECK(count(log, "tool.started") == 2);
  CHECK(count(log, "tool.result") == 2);
  CHECK(count(log, "sandbox.applied") == 2);
  CHECK(count(log, "process.completed") == 2);
  CHECK(count(log, "model.requested") == 2);
  CHECK(node.machine().runs() == 2);
  CHECK(judged(node) == "");
  CHECK(*node.shown(kSession) == node.replayed(kSession));
}

TEST_CASE("a crash between any two steps runs no command twice, and the log says which were lost") {
  std::size_t lost = 0, finished = 0;
  for (std::size_t crash_at = 0; crash_at < 160; ++crash_at) {
    CAPTURE(crash_at);
    Node::Options options = with_tools();
    options.seed = 100 + crash_at;
    Node node(options);
    const auto sent = node.send("submit_turn", submit("u1"));
    for (std::size_t i = 0; i < crash_at; ++i) node.step();
    node.crash();
    node.start();
    node.settle();
    node.ask("submit_turn", submit("u1"));
    node.settle();
    for (int i = 0; i < 4; ++i) {
      node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})");
      node.settle();
    }
    const auto log = node.log(kSession);
    CHECK(log.back().type == "task.completed");
    CHECK(count(log, "tool.started") == 2);
    CHECK(count(log, "tool.result") + count(log, "tool.failed") == 2);
    for (const auto& [id, process] : node.machine().processes) CHECK(process.runs <= 1);
    lost += count(log, "tool.failed");
    finished += count(log, "tool.result");
    CHECK(judged(node) == "");
    if (const state::Session* shown = node.shown(kSession))
      CHECK(*shown == node.replayed(kSession));
  }
  CHECK(lost > 0);
  CHECK(finished > 200);
}

TEST_CASE("a crash between any two steps makes no change twice, and ends with the same files") {
  std::size_t lost = 0;
  for (std::size_t crash_at = 0; crash_at < 140; ++crash_at) {
    CAPTURE(crash_at);
    Node::Options options;
    options.policy.mode = schema::PermissionMode::bypass;
    options.seed = 500 + crash_at;
    FakeAnswer work{{"Looking."}, 5, {}, {}};
    work.calls = {{"read_file", R"({"path":"a"})"},
                  {"list_files", "{}"},
                  {"write_file", R"({"path":"a","content":"one"})"},
                  {"mcp__sim__act", "{}"},
                  {"write_file", R"({"path":"a","content":"two"})"}};
    options.answers = {work};
    Node node(options);
    node.send("submit_turn", submit("u1"));
    for (std::size_t i = 0; i < crash_at; ++i) node.step();
    node.crash();
    node.start();
    node.settle();
    node.ask("submit_turn", submit("u1"));
    node.settle();
    for (int i = 0; i < 3; ++i) {
      node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})");
      node.settle();
    }
    const auto log = node.log(kSession);
    CHECK(log.back().type == "task.completed");
    CHECK(node.files().bytes.at("a") == "two");
    CHECK(node.files().written.size() == 2);
    for (const auto& [_, times] : node.files().written) CHECK(times == 1);
    for (const auto& [_, times] : node.files().acted) CHECK(times == 1);
    CHECK(count(log, "artifact.changed") == 2);
    lost += count(log, "tool.failed");
    CHECK(judged(node) == "");
  }
  CHECK(lost > 0);  // the outcome of a call to a server cannot be looked up after a crash
}

namespace {

// The process.started fact of each process.
std::map<std::string, schema::ProcessStarted> started(const std::vector<schema::StoredEvent>& log) {
  std::map<std::string, schema::ProcessStarted> out;
  for (const schema::StoredEvent& event : log) {
    const auto fact = schema::decode(event);
    if (const auto* process = std::get_if<schema::ProcessStarted>(&fact->payload))
      out[fact->ids.process_id.text()] = *process;
  }
  return out;
}

}  // namespace

TEST_CASE("a crash between any two steps changes nothing about the text that runs") {
  std::size_t literal = 0, dynamic = 0, again = 0;
  for (std::size_t crash_at = 0; crash_at < 160; ++crash_at) {
    CAPTURE(crash_at);
    Node::Options options = with_tools();
    options.answers = {{{"Looking."}, 5, {}, {"ls  -l \"a b\"", "echo $HOME"}},
                       {{"Done."}, 5, {}, {}}};
    options.seed = 700 + crash_at;
    Node node(options);
    node.send("submit_turn", submit("u1"));
    for (std::size_t i = 0; i < crash_at; ++i) node.step();
    node.crash();
    node.start();
    node.settle();
    node.ask("submit_turn", submit("u1"));
    for (int i = 0; i < 4; ++i) {
      node.settle();
      node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})");
    }
    node.settle();
    const auto processes = started(node.log(kSession));
    for (const auto& [id, process] : processes) {
      const std::string& ran = node.machine().processes.at(ProcessId{id}).argv.back();
      if (process.command == "echo $HOME") {
        ++dynamic;
        CHECK_FALSE(process.executed);
        CHECK(ran == process.command);
      } else {
        ++literal;
        CHECK(process.command == "ls  -l \"a b\"");
        CHECK(process.executed == "'ls' '-l' 'a b'");
        CHECK(ran == process.executed);
      }
    }
    if (processes.size() > 2) ++again;
  }
  CHECK(literal > 100);
  CHECK(dynamic > 100);
  CHECK(again > 0);  // a process that was never released is started again under a new id
}

TEST_CASE("what runs too long is ended, and says so") {
  Node node(with_tools());
  node.machine().hangs = true;
  node.ask("submit_turn", submit("u1"));
  node.settle(200'000);
  const auto log = node.log(kSession);
  CHECK(count(log, "process.terminated") == 2);
  CHECK(count(log, "tool.failed") == 2);
  CHECK(log.back().type == "task.completed");
  CHECK(judged(node) == "");
}

TEST_CASE("a sandbox that cannot be applied is a refusal, and nothing runs") {
  Node node(with_tools());
  node.machine().confines = false;
  node.ask("submit_turn", submit("u1"));
  node.settle();
  const auto log = node.log(kSession);
  CHECK(count(log, "tool.failed") == 2);
  CHECK(count(log, "process.started") == 0);
  CHECK(node.machine().runs() == 0);
  CHECK(judged(node) == "");
}

TEST_CASE("an interrupted turn ends its command and starts no other") {
  for (std::size_t at = 10; at < 120; at += 3) {
    CAPTURE(at);
    Node::Options options = with_tools();
    options.seed = 900 + at;
    Node node(options);
    node.send("submit_turn", submit("u1"));
    for (std::size_t i = 0; i < at; ++i) node.step();
    node.ask("interrupt_turn", R"({"sessionId":"s"})");
    const std::size_t runs = node.machine().runs();
    node.settle();
    CHECK(node.machine().runs() == runs);
    for (const auto& [id, process] : node.machine().processes)
      CHECK(process.stage != FakeStage::running);
    CHECK(judged(node) == "");
  }
}

TEST_CASE("a process whose start can never be stored is never let go") {
  Node node(with_tools());
  node.send("submit_turn", submit("u1"));
  while (node.machine().processes.empty()) node.step();
  // The report that the process is ready meets a full disk, and then a damaged log.
  node.disk()->damage(kSession, 4);
  node.store().fail_next({Code::storage_full, "no room", {}});
  node.settle();
  CHECK(node.machine().runs() == 0);
}

namespace {

// The output of each process in the facts; checks the offsets.
std::map<std::string, std::string> outputs(const std::vector<schema::StoredEvent>& log) {
  std::map<std::string, std::string> shown;
  for (const schema::StoredEvent& event : log) {
    const auto fact = schema::decode(event);
    const auto* output = std::get_if<schema::ProcessOutput>(&fact->payload);
    if (!output) continue;
    std::string& text = shown[fact->ids.process_id.text()];
    CHECK(output->offset == text.size());
    text += output->text.value_or("");
    CHECK(output->next_offset == text.size());
  }
  return shown;
}

}  // namespace

TEST_CASE("output that is not UTF-8 has the same sizes before and after a restart") {
  Node::Options options = with_tools();
  options.answers = {{{"Starting."}, 5, {}, {"serve &", "ls"}}, {{"Done."}, 5, {}, {}}};
  Node node(options);
  node.machine().prints = std::string(9'000, '\xff') + "\xc3\xa4";
  node.machine().run_ms = 60'000;
  node.send("submit_turn", submit("u1"));
  const std::int64_t until = node.time().monotonic_ms() + 30'000;
  while (node.step_until(until)) {
  }
  const state::Session replayed = node.replayed(kSession);
  REQUIRE(replayed.processes.size() == 1);
  // Bytes of the stream, however long their text is.
  CHECK(replayed.processes.begin()->second.out_shown == 4'501);
  REQUIRE(node.shown(kSession));
  CHECK(schema::to_json(*node.shown(kSession)) == schema::to_json(replayed));
  node.settle();
  CHECK(schema::to_json(*node.shown(kSession)) == schema::to_json(node.replayed(kSession)));
  CHECK(judged(node) == "");  // among others, no event has more than 4 KiB of text
}

TEST_CASE("a crash between any two steps leaves no process in the background unseen") {
  std::size_t found = 0, completed = 0, failed = 0;
  for (std::size_t crash_at = 0; crash_at < 160; ++crash_at) {
    CAPTURE(crash_at);
    Node::Options options = with_tools();
    options.answers = {{{"Starting."}, 5, {}, {"serve it all day &", "ls"}},
                       {{"Done."}, 5, {}, {}}};
    options.seed = 500 + crash_at;
    Node node(options);
    const auto sent = node.send("submit_turn", submit("u1"));
    for (std::size_t i = 0; i < crash_at; ++i) node.step();
    node.crash();
    node.start();
    node.settle();
    node.ask("submit_turn", submit("u1"));
    for (int i = 0; i < 4; ++i) {
      node.settle();
      node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})");
    }
    node.settle();
    const auto log = node.log(kSession);
    for (const auto& [id, process] : node.machine().processes) {
      CHECK(process.runs <= 1);
      CHECK(process.stage != FakeStage::running);
    }
    CHECK(node.replayed(kSession).processes.empty());
    // A process that was never released is started again under a new id.
    CHECK(count(log, "process.started") >= 2);
    CHECK(count(log, "process.completed") + count(log, "process.failed") ==
          count(log, "process.started"));
    for (const auto& [id, text] : outputs(log))
      CHECK(node.machine().processes.at(ProcessId{id}).command.starts_with(text));
    found += count(log, "runtime.warning");
    completed += count(log, "process.completed");
    failed += count(log, "process.failed");
    CHECK(judged(node) == "");
  }
  CHECK(found > 5);
  CHECK(completed > 200);
  CHECK(failed > 0);
}

TEST_CASE("a process in the background is given what was written, once, and ended when asked") {
  Node::Options options = with_tools();
  options.answers = {{{"Starting."}, 5, {}, {"serve it &"}}, {{"Done."}, 5, {}, {}}};
  Node node(options);
  node.machine().hangs = true;
  node.ask("submit_turn", submit("u1"));
  node.settle(2'000);
  const auto& [id, process] = *node.machine().processes.begin();
  const std::string write =
      fmt::format(R"({{"processId":"{}","input":"hi","idempotencyKey":"k1"}})", id.text());
  const auto first = node.ask("write_process_stdin", write);
  REQUIRE(first);
  CHECK(*node.ask("write_process_stdin", write) == *first);
  CHECK(process.input == "hi");
  node.crash();
  node.start();
  node.settle(2'000);
  CHECK(node.ask("write_process_stdin", write) == *first);
  CHECK(process.input == "hi");
  CHECK(node.ask("terminate_process", fmt::format(R"({{"processId":"{}"}})", id.text())));
  node.settle(2'000);
  CHECK(process.stage == FakeStage::ended);
  CHECK(count(node.log(kSession), "process.terminated") == 1);
  CHECK(judged(node) == "");
}

}  // namespace agentrt::sim
