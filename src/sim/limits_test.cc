// sim/limits_test.cc: the kernel's limits, and rebuilding of data derived from the log.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernel/loader.h"
#include "sim/node.h"

namespace agentrt::sim {
namespace {

const SessionId kSession{"s"};

Node::Options options(kernel::Limits limits, std::uint64_t seed = 1) {
  return {
      .seed = seed, .answers = {{{"fine"}, 5, {}}}, .settings = {}, .limits = std::move(limits)};
}

std::string submit(const std::string& turn) {
  return fmt::format(R"({{"sessionId":"s","threadId":"t","turnId":"{}",)"
                     R"("input":[{{"type":"text","text":"question {}"}}]}})",
                     turn, turn);
}

std::size_t count(const std::vector<schema::StoredEvent>& log, std::string_view type) {
  return static_cast<std::size_t>(std::ranges::count(log, type, &schema::StoredEvent::type));
}

std::size_t overloaded(const std::vector<Node::Slot>& slots) {
  std::size_t out = 0;
  for (const auto& slot : slots) {
    REQUIRE(slot->has_value());
    if (!(*slot)->has_value() && (*slot)->error().code == Code::overloaded) ++out;
  }
  return out;
}

std::vector<store::IndexEntry> index_of(Node& node) {
  std::vector<store::IndexEntry> out;
  for (const char* kind : {"session", "turn", "task"}) {
    auto rows = node.store().list({.kind = kind, .session = kSession, .limit = 1'000});
    REQUIRE(rows.has_value());
    for (store::IndexEntry& row : *rows) out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

TEST_CASE("a full lane answers overloaded and takes commands again when it has emptied") {
  kernel::Limits limits;
  limits.lane_queue_max = 3;
  Node node(options(limits));
  node.ask("create_session", R"({"sessionId":"s"})");
  std::vector<Node::Slot> slots;
  for (int i = 0; i < 20; ++i)
    slots.push_back(
        node.send("update_session", fmt::format(R"({{"sessionId":"s","title":"{}"}})", i)));
  node.settle();
  const std::size_t refused = overloaded(slots);
  CHECK(refused > 0);
  CHECK(count(node.log(kSession), "session.updated") == 20 - refused);
  CHECK(node.ask("update_session", R"({"sessionId":"s","title":"x"})").has_value());
}

TEST_CASE("commands beyond what the runtime may hold in hand are overloaded") {
  kernel::Limits limits;
  limits.commands_in_flight_max = 5;
  Node node(options(limits));
  std::vector<Node::Slot> slots;
  for (int i = 0; i < 8; ++i)
    slots.push_back(node.send("create_session", fmt::format(R"({{"sessionId":"s{}"}})", i)));
  node.settle();
  CHECK(overloaded(slots) == 3);
  CHECK(node.metrics().commands_overloaded == 3);
}

TEST_CASE("an idempotency key is remembered for as long as the limit says") {
  kernel::Limits limits;
  limits.idempotency_keep_ms = 60'000;
  limits.idempotency_sweep_ms = 10'000;
  Node node(options(limits));
  const std::string first = R"({"sessionId":"s","title":"a","idempotencyKey":"k"})";
  const std::string other = R"({"sessionId":"s","title":"b","idempotencyKey":"k"})";
  REQUIRE(node.ask("create_session", R"({"sessionId":"s"})").has_value());
  const auto reply = node.ask("update_session", first);
  CHECK(node.ask("update_session", first) == reply);
  CHECK(node.ask("update_session", other).error().code == Code::idempotency_conflict);
  for (int i = 0; i < 200; ++i) node.step();  // let the sweeps run
  CHECK(node.ask("update_session", other).has_value());
}

TEST_CASE("a page is clamped, and its cursor leads through everything once") {
  kernel::Limits limits;
  limits.page_max = 7;
  Node node(options(limits));
  node.ask("submit_turn", submit("u1"));
  node.settle();
  const auto log = node.log(kSession);
  std::size_t seen = 0;
  for (std::size_t after = 0; after < log.size();) {
    const auto page = node.ask(
        "list_events", fmt::format(R"({{"sessionId":"s","after":{},"limit":5000}})", after));
    REQUIRE(page.has_value());
    for (std::size_t sequence = after + 1; sequence <= std::min(after + 7, log.size());
         ++sequence) {
      CHECK(page->find(fmt::format(R"("sequence":{},)", sequence)) != std::string::npos);
      ++seen;
    }
    CHECK(page->find(fmt::format(R"("sequence":{},)", after + 8)) == std::string::npos);
    after += 7;
  }
  CHECK(seen == log.size());
}

TEST_CASE("a model is given all earlier turns, also if no conversation may be kept in memory") {
  kernel::Limits limits;
  limits.history.kept_bytes = 0;
  Node node(options(limits));
  for (const char* turn : {"u1", "u2", "u3", "u4"}) {
    node.ask("submit_turn", submit(turn));
    node.settle();
  }
  std::optional<schema::HistoryWindowLoaded> last;
  for (const schema::StoredEvent& event : node.log(kSession))
    if (event.type == "history.window.loaded")
      last = std::get<schema::HistoryWindowLoaded>(schema::decode(event)->payload);
  REQUIRE(last.has_value());
  CHECK(last->turns == 3);
  CHECK(last->omitted == 0);
}

TEST_CASE("turns that wait or were removed are not history") {
  Node node(options({}));
  for (const char* turn : {"u1", "u2", "u3"}) node.ask("submit_turn", submit(turn));
  node.ask("promote_queued_turn", R"({"sessionId":"s","threadId":"t","queuedTurnId":"u3"})");
  node.settle();
  std::vector<std::uint64_t> turns;
  for (const schema::StoredEvent& event : node.log(kSession))
    if (event.type == "history.window.loaded")
      turns.push_back(std::get<schema::HistoryWindowLoaded>(schema::decode(event)->payload).turns);
  CHECK(turns == std::vector<std::uint64_t>{1, 2});  // u3 saw u1; u2 saw u1 and u3
}

TEST_CASE("index rows rebuilt from the log are the rows that were written with it") {
  Node node(options({}));
  for (const char* turn : {"u1", "u2", "u3"}) node.ask("submit_turn", submit(turn));
  node.ask("remove_queued_turn", R"({"sessionId":"s","threadId":"t","queuedTurnId":"u3"})");
  node.settle();
  const auto before = index_of(node);
  CHECK(before.size() == 1 + 3 + 3);
  REQUIRE(kernel::rebuild_index(node.store(), kSession).has_value());
  CHECK(index_of(node) == before);
}

TEST_CASE("the queue keeps its order over a restart") {
  Node node(options({}));
  for (const char* turn : {"u1", "u2", "u3", "u4"}) node.ask("submit_turn", submit(turn));
  node.ask("promote_queued_turn", R"({"sessionId":"s","threadId":"t","queuedTurnId":"u4"})");
  const auto order = [&] {
    std::vector<std::string> out;
    const state::Session view = node.replayed(kSession);
    for (const state::Turn& turn : view.threads.at(ThreadId{"t"}).queue)
      out.push_back(turn.ids.turn.text());
    return out;
  };
  const auto before = order();
  node.crash();
  node.start();
  CHECK(order() == before);
}

TEST_CASE("a snapshot of another fold version is not used, and the repair is said") {
  Node node(options({}));
  node.ask("submit_turn", submit("u1"));
  node.settle();
  store::Append append;
  append.session = kSession;
  append.expected = node.log(kSession).size();
  append.events.push_back(
      schema::encode(schema::Draft{schema::SessionScope{kSession},
                                   schema::RuntimeWarning{.code = "test", .message = "a fact"}},
                     append.expected + 1, node.replayed(kSession).at, node.store().runtime()));
  append.snapshot = store::Snapshot{append.expected, state::kFoldVersion + 1, "{}"};
  REQUIRE(node.store().commit(std::span(&append, 1)).front().has_value());
  node.crash();
  node.start();
  REQUIRE(node.ask("get_session", R"({"sessionId":"s"})").has_value());
  CHECK(count(node.log(kSession), "snapshot.repaired") == 1);
  CHECK(count(node.log(kSession), "snapshot.updated") == 1);
  node.crash();
  node.start();
  REQUIRE(node.ask("update_session", R"({"sessionId":"s","title":"x"})").has_value());
  CHECK(count(node.log(kSession), "snapshot.repaired") == 1);
  CHECK(*node.shown(kSession) == node.replayed(kSession));
}

TEST_CASE("a damaged snapshot and a missing one are replaced, and the repair is said") {
  for (const bool damaged : {true, false}) {
    CAPTURE(damaged);
    Node node(options({}));
    node.ask("submit_turn", submit("u1"));
    node.settle();
    const Sequence head = node.log(kSession).size();
    store::Append append;
    append.session = kSession;
    append.expected = head;
    append.events.push_back(
        schema::encode(schema::Draft{schema::SessionScope{kSession},
                                     schema::SnapshotUpdated{head, state::kFoldVersion}},
                       head + 1, node.replayed(kSession).at, node.store().runtime()));
    if (damaged) append.snapshot = store::Snapshot{head, state::kFoldVersion, ""};
    REQUIRE(node.store().commit(std::span(&append, 1)).front().has_value());
    node.crash();
    node.start();
    REQUIRE(node.ask("get_session", R"({"sessionId":"s"})").has_value());
    const auto log = node.log(kSession);
    REQUIRE(count(log, "snapshot.repaired") == 1);
    CHECK(log[head + 1].payload.contains(damaged ? R"("reason":"damaged")"
                                                 : R"("reason":"missing")"));
    CHECK(node.store().snapshot(kSession).value()->bytes.size() > 2);
  }
}

TEST_CASE("sessions with a snapshot of another fold version are rebuilt in the background") {
  Node node(options({}));
  node.ask("submit_turn", submit("u1"));
  node.settle();
  store::Append append;
  append.session = kSession;
  append.expected = node.log(kSession).size();
  append.events.push_back(
      schema::encode(schema::Draft{schema::SessionScope{kSession},
                                   schema::RuntimeWarning{.code = "test", .message = "a fact"}},
                     append.expected + 1, node.replayed(kSession).at, node.store().runtime()));
  append.snapshot = store::Snapshot{append.expected, state::kFoldVersion + 1, "{}"};
  REQUIRE(node.store().commit(std::span(&append, 1)).front().has_value());
  node.crash();
  node.start();
  node.settle();
  CHECK(count(node.log(kSession), "snapshot.repaired") == 1);
  CHECK(node.store().old_snapshots(state::kFoldVersion, 0, 10).value().empty());
}

}  // namespace agentrt::sim
