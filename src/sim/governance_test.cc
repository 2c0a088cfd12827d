// sim/governance_test.cc: turns with hooks and questions under virtual time: a crash between any
// two steps leads to the same end.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "sim/checks.h"
#include "sim/node.h"

namespace agentrt::sim {
namespace {

const SessionId kSession{"s"};
constexpr std::string_view kSubmit =
    R"({"sessionId":"s","threadId":"t","turnId":"u1","input":[{"type":"text","text":"go"}]})";

// A hook rewrites the command, a question is asked about it, and then it runs.
Node::Options governed() {
  Node::Options options;
  options.policy.mode = schema::PermissionMode::default_;
  options.policy.hooks.push_back({.point = schema::HookPoint::pre_tool_use,
                                  .command = "h",
                                  .on_failure = schema::OnFailure::open});
  options.answers = {{{"Looking."}, 5, {}, {"make"}}, {{"Done."}, 5, {}, {}}};
  return options;
}

HookAnswer rewrites(const ports::HookRequest&) {
  HookAnswer answer;
  answer.outcome.updated_input = schema::Json{R"({"command":"bash check.sh"})"};
  return answer;
}

std::size_t count(const Log& log, std::string_view type) {
  return static_cast<std::size_t>(std::ranges::count(log, type, &schema::StoredEvent::type));
}

Facts facts_of(const Log& log) {
  Facts out;
  for (const schema::StoredEvent& event : log) out.push_back(*schema::decode(event));
  return out;
}

std::string wrong_with(Node& node) {
  const Log log = node.log(kSession);
  for (const Checked& checked :
       {check_judged(log), check_decisions(facts_of(log), node.governance().seen)})
    if (checked) return checked->invariant + ": " + checked->what;
  return {};
}

const state::Turn* turn_of(const state::Session& view) {
  const auto found = view.threads.find(ThreadId{"t"});
  if (found == view.threads.end() || !found->second.active) return nullptr;
  return &*found->second.active;
}

// Answers the open question, if any.
bool answer(Node& node, std::string_view decision) {
  const state::Session view = node.replayed(kSession);
  const state::Turn* turn = turn_of(view);
  if (!turn || !turn->action) return false;
  node.send("respond_action", fmt::format(R"({{"actionId":"{}","decision":"{}"}})",
                                          turn->action->id.text(), decision));
  return true;
}

void until_asked(Node& node) {
  for (int i = 0; i < 1'000; ++i) {
    const state::Session view = node.replayed(kSession);
    if (const state::Turn* turn = turn_of(view); turn && turn->action) return;
    node.step();
  }
  FAIL("nobody is asked");
}

// Resumes and answers until nothing is open.
void finish(Node& node, std::string_view decision) {
  for (int round = 0; round < 8; ++round) {
    node.settle();
    answer(node, decision);
    node.settle();
    node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})");
  }
  node.settle();
}

}  // namespace

TEST_CASE("a crash between any two steps: one end, one question answered once, one run at most") {
  std::size_t rewritten = 0, ran = 0;
  for (std::size_t crash_at = 0; crash_at < 150; ++crash_at) {
    CAPTURE(crash_at);
    Node::Options options = governed();
    options.seed = 300 + crash_at;
    Node node(options);
    node.governance().hook = rewrites;
    node.send("submit_turn", std::string(kSubmit));
    bool answered = false;
    for (std::size_t i = 0; i < crash_at; ++i) {
      if (!answered) answered = answer(node, "allow");
      node.step();
    }
    node.crash();
    node.start();
    node.ask("submit_turn", std::string(kSubmit));
    finish(node, "allow");
    const Log log = node.log(kSession);
    CHECK(log.back().type == "task.completed");
    CHECK(count(log, "action.required") == 1);
    CHECK(count(log, "action.resolved") == 1);
    CHECK(count(log, "hook.started") == 1);
    CHECK(node.machine().runs() <= 1);
    for (const auto& [run, times] : node.governance().hook_runs) CHECK(times == 1);
    CHECK(wrong_with(node) == "");
    if (const state::Session* shown = node.shown(kSession))
      CHECK(*shown == node.replayed(kSession));
    rewritten += count(log, "hook.completed");
    ran += node.machine().runs();
  }
  CHECK(rewritten > 100);
  CHECK(ran > 100);
}

TEST_CASE("a crash between any two steps around a no: nothing ever runs") {
  for (std::size_t crash_at = 0; crash_at < 120; crash_at += 2) {
    CAPTURE(crash_at);
    Node::Options options = governed();
    options.seed = 700 + crash_at;
    Node node(options);
    node.send("submit_turn", std::string(kSubmit));
    for (std::size_t i = 0; i < crash_at; ++i) {
      answer(node, "deny");
      node.step();
    }
    node.crash();
    node.start();
    node.ask("submit_turn", std::string(kSubmit));
    finish(node, "deny");
    CHECK(node.log(kSession).back().type == "task.completed");
    CHECK(node.machine().runs() == 0);
    CHECK(wrong_with(node) == "");
  }
}

TEST_CASE(
    "a crash while any hook runs: none runs again, and closed ones keep things from going on") {
  constexpr auto kPoints = static_cast<int>(schema::HookPoint::stop) + 1;
  for (int point = 0; point < kPoints; ++point)
    for (const auto meant : {schema::OnFailure::open, schema::OnFailure::closed}) {
      CAPTURE(point);
      CAPTURE(meant);
      Node::Options options = governed();
      options.policy.hooks = {
          {.point = static_cast<schema::HookPoint>(point), .command = "h", .on_failure = meant}};
      options.answers.front().commands = {"make", "exit 3"};
      Node node(options);
      node.send("submit_turn", std::string(kSubmit));
      while (node.governance().hook_runs.empty() && node.step()) answer(node, "allow");
      node.crash();
      node.start();
      finish(node, "allow");
      const Log log = node.log(kSession);
      CHECK(count(log, "hook.failed") == 1);
      for (const auto& [run, times] : node.governance().hook_runs) CHECK(times == 1);
      CHECK_FALSE(turn_of(node.replayed(kSession)));
      CHECK(wrong_with(node) == "");
    }
}

TEST_CASE("a question nobody answers expires, across a restart too") {
  for (const bool crashes : {false, true}) {
    CAPTURE(crashes);
    Node node(governed());
    node.ask("submit_turn",
             R"({"sessionId":"s","threadId":"t","turnId":"u1","options":{"askTimeoutMs":3000},)"
             R"("input":[{"type":"text","text":"go"}]})");
    until_asked(node);
    if (crashes) {
      node.crash();
      node.start();
    }
    finish(node, "deny");
    const Log log = node.log(kSession);
    CHECK(log.back().type == "task.completed");
    CHECK(node.machine().runs() == 0);
    CHECK(wrong_with(node) == "");
  }
}

TEST_CASE("a world that changes between answer and run lets nothing run") {
  Node node(governed());
  node.governance().hook = rewrites;
  node.ask("submit_turn", std::string(kSubmit));
  until_asked(node);
  node.governance().world = "2";
  finish(node, "allow");
  const Log log = node.log(kSession);
  CHECK(node.machine().runs() == 0);
  CHECK(count(log, "tool.failed") == 1);
  CHECK(log.back().type == "task.completed");
  CHECK(wrong_with(node) == "");
}

TEST_CASE("a grant for the session holds in its folder and for the files as they were") {
  Node::Options options;
  options.policy.mode = schema::PermissionMode::default_;
  options.answers = {{{"Looking."}, 5, {}, {"bash check.sh"}}, {{"Done."}, 5, {}, {}}};
  Node node(options);
  std::size_t turns = 0;
  // Runs a turn to its end; how often a person was asked in it.
  const auto asked_in_turn = [&](std::string_view scope) {
    const std::size_t before = count(node.log(kSession), "action.required");
    node.send("submit_turn", fmt::format(R"({{"sessionId":"s","threadId":"t","turnId":"u{}",)"
                                         R"("input":[{{"type":"text","text":"go"}}]}})",
                                         ++turns));
    for (int round = 0; round < 3; ++round) {
      node.settle();
      const state::Session view = node.replayed(kSession);
      const state::Turn* turn = turn_of(view);
      if (!turn || !turn->action) break;
      node.send("respond_action",
                fmt::format(R"({{"actionId":"{}","decision":"allow","scope":"{}"}})",
                            turn->action->id.text(), scope));
    }
    node.settle();
    CHECK(node.machine().runs() == turns);
    CHECK(wrong_with(node) == "");
    return count(node.log(kSession), "action.required") - before;
  };
  CHECK(asked_in_turn("session") == 1);
  CHECK(asked_in_turn("once") == 0);  // granted
  node.crash();
  node.start();
  CHECK(asked_in_turn("once") == 0);  // the grant is in the log
  node.governance().world = "2";
  CHECK(asked_in_turn("once") == 1);  // the file or its folder is another one now
  CHECK(asked_in_turn("session") == 1);
  CHECK(asked_in_turn("once") == 0);
  node.governance().world = "1";
  CHECK(asked_in_turn("once") == 1);  // a later grant of the same command replaces the first
}

}  // namespace agentrt::sim
