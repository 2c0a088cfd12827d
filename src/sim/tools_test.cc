// sim/tools_test.cc: calls of tools under virtual time: a crash between any two steps, and never
// two runs of one command.
#include <doctest/doctest.h>

#include <set>

#include <fmt/format.h>

#include "sim/node.h"
#include "validate/judge.h"

namespace agentrt::sim {
namespace {

const SessionId kSession{"s"};

Node::Options with_tools() {
  Node::Options options;
  options.settings.mode = schema::PermissionMode::bypass;
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

// The validator's word on the session's stream.
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
  // The report that it is ready meets a disk that fails, and then a log that cannot be read.
  node.disk()->damage(kSession, 4);
  node.store().fail_next({Code::storage_full, "no room", {}});
  node.settle();
  CHECK(node.machine().runs() == 0);
}

}  // namespace agentrt::sim
