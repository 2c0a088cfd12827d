// sim/node_test.cc: kernel, lanes, engine and store together on one thread under virtual time, with
// a crash between any two steps.
#include "sim/node.h"

#include <doctest/doctest.h>

#include <set>

#include <fmt/format.h>

#include "sim/fakes/fickle_models.h"

namespace agentrt::sim {
namespace {

using schema::Status;

struct ReplySequence {
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  std::optional<std::string> status;
  std::optional<bool> resumed;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ReplySequence, (),
                      (session_id, thread_id, turn_id, status, resumed, sequence))

ReplySequence read(const ports::Reply& reply) {
  REQUIRE(reply.has_value());
  ReplySequence out;
  REQUIRE(schema::from_json(*reply, out, schema::Unknown::ignore).has_value());
  return out;
}

std::string submit(const std::string& turn, const std::string& text) {
  return fmt::format(R"({{"sessionId":"s","threadId":"t","turnId":"{}",)"
                     R"("input":[{{"type":"text","text":"{}"}}]}})",
                     turn, text);
}

std::size_t count(const std::vector<schema::StoredEvent>& log, std::string_view type) {
  return static_cast<std::size_t>(std::ranges::count(log, type, &schema::StoredEvent::type));
}

std::string answer_text(const std::vector<schema::StoredEvent>& log) {
  std::string out;
  for (const schema::StoredEvent& event : log)
    if (event.type == "model.completed")
      out += std::get<schema::ModelCompleted>(schema::decode(event)->payload).text.value_or("?");
  return out;
}

// The invariants of a log at any time.
void check_log(Node& node, const SessionId& session) {
  const auto log = node.log(session);
  std::set<std::string> started;
  Timestamp last{};
  for (std::size_t i = 0; i < log.size(); ++i) {
    CHECK(log[i].sequence == i + 1);
    CHECK(log[i].at >= last);
    last = log[i].at;
    const auto fact = schema::decode(log[i]);
    REQUIRE(fact.has_value());
    if (log[i].type == "turn.submitted") CHECK(started.insert(fact->ids.turn_id.text()).second);
  }
}

const SessionId kSession{"s"};
const std::vector<FakeAnswer> kStory = {{{"Hello", ", ", "world"}, 10, {}}};

}  // namespace

TEST_CASE("a turn runs to its end and what was published is what is stored") {
  Node node({.seed = 1, .answers = kStory, .settings = {}, .limits = {}});
  const auto reply = read(node.ask("submit_turn", submit("u1", "hi")));
  CHECK(reply.status == "accepted");
  CHECK(reply.sequence == 8);
  node.settle();
  const auto log = node.log(kSession);
  CHECK(log.back().type == "task.completed");
  CHECK(answer_text(log) == "Hello, world");
  CHECK(node.published() == log);
  CHECK(*node.shown(kSession) == node.replayed(kSession));
  CHECK(node.model_requests() == 1);
  check_log(node, kSession);
}

TEST_CASE(
    "a crash between any two steps loses nothing acknowledged, and resuming finishes the turn") {
  for (std::size_t crash_at = 0; crash_at < 120; ++crash_at) {
    CAPTURE(crash_at);
    Node node({.seed = 7 + crash_at, .answers = kStory, .settings = {}, .limits = {}});
    const auto first = node.send("submit_turn", submit("u1", "hi"));
    const auto second = node.send("submit_turn", submit("u2", "and you?"));
    for (std::size_t i = 0; i < crash_at; ++i) node.step();
    const bool first_acked = first->has_value() && (*first)->has_value();
    const bool second_acked = second->has_value() && (*second)->has_value();
    node.crash();
    node.start();
    node.settle();
    const auto log = node.log(kSession);
    check_log(node, kSession);
    CHECK(count(log, "turn.submitted") >= (first_acked ? 1u : 0u) + (second_acked ? 1u : 0u));
    // Repeating the commands returns the same turns, not new ones.
    const auto again = read(node.ask("submit_turn", submit("u1", "hi")));
    if (first_acked) CHECK(again.sequence == read(**first).sequence);
    read(node.ask("submit_turn", submit("u2", "and you?")));
    node.settle();
    for (int i = 0; i < 4; ++i) {
      node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})");
      node.settle();
    }
    const auto end = node.log(kSession);
    CHECK(count(end, "turn.submitted") == 2);
    CHECK(count(end, "turn.completed") == 2);
    CHECK(count(end, "model.requested") ==
          count(end, "model.completed") + count(end, "model.failed"));
    CHECK(answer_text(end) == "Hello, worldHello, world");
    if (const state::Session* shown = node.shown(kSession))
      CHECK(*shown == node.replayed(kSession));
    check_log(node, kSession);
  }
}

TEST_CASE("after a restart an unfinished turn is blocked, resumable, and says why") {
  Node node({.seed = 3, .answers = {{{"a", "b"}, 60'000, {}}}, .settings = {}, .limits = {}});
  node.ask("submit_turn", submit("u1", "hi"));
  while (count(node.log(kSession), "model.requested") == 0) node.step();
  node.crash();
  node.start();
  const auto thread = node.ask("get_thread_read", R"({"sessionId":"s","threadId":"t"})");
  REQUIRE(thread.has_value());
  CHECK(thread->find(R"("status":"blocked","statusReason":"restart","resumable":true)") !=
        std::string::npos);
  CHECK(read(node.ask("resume_thread", R"({"sessionId":"s","threadId":"t"})")).resumed == true);
}

TEST_CASE("with resume set to auto an unfinished turn resumes automatically") {
  control::Settings settings;
  settings.after_restart = control::AfterRestart::resume;
  Node node({.seed = 4, .answers = kStory, .settings = settings, .limits = {}});
  node.ask("submit_turn", submit("u1", "hi"));
  node.crash();
  node.start();
  node.settle();
  CHECK(count(node.log(kSession), "turn.completed") == 1);
}

TEST_CASE("a hundred submits with one key are one turn and a hundred equal answers") {
  Node node({.seed = 5, .answers = kStory, .settings = {}, .limits = {}});
  const std::string params = R"({"sessionId":"s","threadId":"t","idempotencyKey":"k",)"
                             R"("input":[{"type":"text","text":"hi"}]})";
  std::vector<Node::Slot> slots;
  for (int i = 0; i < 100; ++i) slots.push_back(node.send("submit_turn", params));
  node.settle();
  for (const auto& slot : slots) {
    REQUIRE(slot->has_value());
    CHECK(**slot == **slots.front());
  }
  CHECK(count(node.log(kSession), "turn.submitted") == 1);
  const auto other =
      node.ask("submit_turn",
               R"({"sessionId":"s","input":[{"type":"text","text":"no"}],"idempotencyKey":"k"})");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == Code::idempotency_conflict);
}

TEST_CASE("a full disk refuses commands, keeps reports, and work continues when there is space") {
  Node node({.seed = 6, .answers = kStory, .settings = {}, .limits = {}});
  node.store().fail_next({Code::storage_full, "no room", {}});
  const auto refused = node.ask("submit_turn", submit("u1", "hi"));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Code::storage_full);
  CHECK(node.log(kSession).empty());
  node.ask("submit_turn", submit("u1", "hi"));
  for (int round = 0; round < 6; ++round) {  // each report meets a full disk once
    for (int i = 0; i < 7; ++i) node.step();
    node.store().fail_next({Code::storage_full, "no room", {}});
  }
  node.settle();
  CHECK(answer_text(node.log(kSession)) == "Hello, world");
  CHECK(count(node.log(kSession), "turn.completed") == 1);
  CHECK(*node.shown(kSession) == node.replayed(kSession));
}

TEST_CASE("sessions that nobody uses leave memory and come back the same") {
  kernel::Limits limits;
  limits.idle_sessions_max = 2;
  limits.snapshot_every_facts = 10;
  Node node({.seed = 8, .answers = kStory, .settings = {}, .limits = limits});
  for (int i = 0; i < 6; ++i)
    node.ask(
        "submit_turn",
        fmt::format(
            R"({{"sessionId":"s{}","threadId":"t","input":[{{"type":"text","text":"hi"}}]}})", i));
  node.settle();
  CHECK(node.metrics().sessions_in_memory <= 2);
  CHECK(node.metrics().snapshots_stored > 0);
  const auto thread = node.ask("get_thread_read", R"({"sessionId":"s0","threadId":"t"})");
  REQUIRE(thread.has_value());
  CHECK(thread->find(R"("status":"idle")") != std::string::npos);
  CHECK(*node.shown(SessionId{"s0"}) == node.replayed(SessionId{"s0"}));
}

TEST_CASE("a damaged fact names itself and other sessions serve on") {
  Node node({.seed = 9, .answers = kStory, .settings = {}, .limits = {}});
  node.ask("submit_turn", submit("u1", "hi"));
  node.ask("create_session", R"({"sessionId":"other"})");
  node.settle();
  node.crash();
  node.disk()->damage(kSession, 4);
  node.start();
  node.settle();
  const auto damaged = node.ask("get_session", R"({"sessionId":"s"})");
  REQUIRE_FALSE(damaged.has_value());
  CHECK(damaged.error().code == Code::internal);
  CHECK(damaged.error().details.find(R"("sequence":4)") != std::string::npos);
  CHECK(node.ask("update_session", R"({"sessionId":"other","title":"x"})").has_value());
}

TEST_CASE("a retryable failure is asked again after the pause the provider wished for") {
  ports::ModelFault fault;
  fault.error = {schema::Category::rate_limited, "slow down", true};
  fault.ended_by_provider = true;
  fault.retry_after_ms = 5'000;
  Node node(
      {.seed = 10, .answers = {{{}, 1, fault}, {{"fine"}, 1, {}}}, .settings = {}, .limits = {}});
  node.ask("submit_turn", submit("u1", "hi"));
  node.settle();
  const auto log = node.log(kSession);
  CHECK(count(log, "model.failed") == 1);
  CHECK(answer_text(log) == "fine");
}

TEST_CASE("a clock that is set back does not hold up a turn that will ask again") {
  ports::ModelFault fault;
  fault.error = {schema::Category::provider, "try again", true};
  fault.ended_by_provider = true;
  Node node(
      {.seed = 12, .answers = {{{}, 1, fault}, {{"fine"}, 1, {}}}, .settings = {}, .limits = {}});
  node.ask("submit_turn", submit("u1", "hi"));
  node.time().jump(-2 * 24 * 3'600'000);
  const std::int64_t soon = node.time().monotonic_ms() + 2 * engine::kRetryWaitMaxMs;
  while (node.step_until(soon)) {
  }
  CHECK(answer_text(node.log(kSession)) == "fine");
}

TEST_CASE("a turn that is blocked and resumed within one commit is prepared again") {
  Provider provider;
  provider.absent = 1;
  Node node({.seed = 13,
             .answers = {},
             .settings = {},
             .limits = {},
             .seams = {.models = [&](ports::Loop& loop) {
               return std::make_unique<FickleModels>(loop, provider);
             }}});
  node.ask("submit_turn", submit("u1", "hi"));
  node.time().hold(*node.boot().writer, 1'000);
  node.send("update_session", R"({"sessionId":"s","title":"x"})");
  const std::int64_t meanwhile = node.time().monotonic_ms() + 500;
  while (node.step_until(meanwhile)) {
  }
  const auto resumed = node.send("resume_thread", R"({"sessionId":"s","threadId":"t"})");
  node.settle();
  CHECK(read(**resumed).resumed == true);
  CHECK(count(node.log(kSession), "task.blocked") == 1);
  CHECK(count(node.log(kSession), "turn.completed") == 1);
}

TEST_CASE("the same seed gives the same log") {
  const auto run = [](std::uint64_t seed) {
    Node node({.seed = seed, .answers = kStory, .settings = {}, .limits = {}});
    node.ask("submit_turn", submit("u1", "hi"));
    node.settle();
    return node.log(kSession);
  };
  CHECK(run(11) == run(11));
}

}  // namespace agentrt::sim
