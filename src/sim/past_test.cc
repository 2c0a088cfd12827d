// sim/past_test.cc: reads with atSequence through the whole kernel, and lists of sessions by their
// last change.
#include <doctest/doctest.h>

#include <map>

#include <fmt/format.h>

#include "sim/node.h"

namespace agentrt::sim {
namespace {

using namespace schema;

const SessionId kSession{"s"};
const std::vector<FakeAnswer> kAnswers = {{{"Hello", ", ", "world"}, 10, {}}, {{"Bye"}, 10, {}}};

std::string submit(const std::string& session, const std::string& turn, const std::string& thread) {
  return fmt::format(R"({{"sessionId":"{}","threadId":"{}","turnId":"{}",)"
                     R"("input":[{{"type":"text","text":"do {}"}}]}})",
                     session, thread, turn, turn);
}

std::string text_of(const ports::Reply& reply) {
  return reply ? *reply : "error: " + reply.error().message;
}

Error error_of(const ports::Reply& reply) {
  REQUIRE_FALSE(reply.has_value());
  return reply.error();
}

SessionSnapshot session_of(const ports::Reply& reply) {
  REQUIRE_MESSAGE(reply.has_value(), text_of(reply));
  SessionSnapshot out;
  REQUIRE(from_json(*reply, out, Unknown::refuse).has_value());
  return out;
}

Node::Options options(kernel::Limits limits = {}) {
  return {.seed = 5, .answers = kAnswers, .settings = {}, .limits = limits};
}

// Six turns on two threads, a task and a rename.
void work(Node& node) {
  for (int turn = 1; turn <= 6; ++turn) {
    REQUIRE(node.ask("submit_turn", submit("s", fmt::format("u{}", turn), turn % 2 ? "a" : "b")));
    if (turn == 2)
      REQUIRE(
          node.ask("create_task", R"({"sessionId":"s","taskId":"ship","objective":"Ship it"})"));
    if (turn == 4) REQUIRE(node.ask("update_session", R"({"sessionId":"s","title":"Renamed"})"));
    node.settle();
  }
}

}  // namespace

TEST_CASE("a read of the past is the reply that was given then, at every fact") {
  Node node(options());
  std::map<Sequence, std::array<std::string, 3>> given;
  const std::array<std::pair<std::string, std::string>, 3> reads{
      {{"get_session", R"("sessionId":"s")"},
       {"get_thread_read", R"("sessionId":"s","threadId":"a")"},
       {"get_read_model", R"("sessionId":"s","name":"task_snapshot")"}}};
  const auto record = [&] {
    const auto before = node.log(kSession).size();
    std::array<std::string, 3> replies;
    for (std::size_t i = 0; i < reads.size(); ++i)
      replies[i] = text_of(node.ask(reads[i].first, "{" + reads[i].second + "}"));
    if (before > 0 && node.log(kSession).size() == before) given[before] = replies;
  };
  for (int turn = 1; turn <= 8; ++turn) {
    REQUIRE(node.ask("submit_turn", submit("s", fmt::format("u{}", turn), "a")));
    REQUIRE(node.ask("create_task", fmt::format(R"({{"sessionId":"s","taskId":"t{}",)"
                                                R"("objective":"Ship it"}})",
                                                turn)));
    for (int step = 0; step < 200 && node.step(); ++step) record();
    node.settle();
    record();
  }
  CHECK(given.size() > 12);
  node.crash();
  node.start();
  for (const auto& [sequence, replies] : given) {
    CAPTURE(sequence);
    for (std::size_t i = 0; i < reads.size(); ++i)
      CHECK(text_of(node.ask(reads[i].first, fmt::format(R"({{{},"atSequence":{}}})",
                                                         reads[i].second, sequence))) ==
            replies[i]);
  }
}

TEST_CASE("a page of the past continues with its own cursor and the same atSequence") {
  Node node(options());
  work(node);
  const Sequence at = node.log(kSession).size() - 5;  // the sixth turn runs
  std::vector<std::string> turns;
  std::string cursor;
  std::string first;
  for (int page = 0; page < 10; ++page) {
    const SessionSnapshot read = session_of(
        node.ask("get_session",
                 fmt::format(R"({{"sessionId":"s","limit":2,"atSequence":{}{}}})", at, cursor)));
    CHECK(read.as_of_sequence == at);
    for (const Json& row : read.history) {
      TurnSnapshot turn;
      REQUIRE(from_json(row.text, turn, Unknown::refuse).has_value());
      turns.push_back(turn.turn_id.text());
    }
    if (!read.history_cursor) break;
    if (first.empty()) first = *read.history_cursor;
    cursor = fmt::format(R"(,"cursor":"{}")", *read.history_cursor);
  }
  CHECK(turns == std::vector<std::string>{"u6", "u5", "u4", "u3", "u2", "u1"});
  const auto with = [&](const std::string& more) {
    return node.ask("get_session",
                    fmt::format(R"({{"sessionId":"s","cursor":"{}"{}}})", first, more));
  };
  CHECK(error_of(with("")).code == Code::invalid_params);
  const Error other = error_of(with(fmt::format(R"(,"atSequence":{})", at - 1)));
  CHECK(other.code == Code::invalid_params);
  CHECK(other.message.starts_with("cursor: "));
}

TEST_CASE("a moment that the log does not have is refused by name") {
  Node node(options());
  work(node);
  const auto read = [&](Sequence at) {
    return node.ask("get_session", fmt::format(R"({{"sessionId":"s","atSequence":{}}})", at));
  };
  CHECK(error_of(read(0)).message.starts_with("atSequence: "));
  CHECK(error_of(read(0)).code == Code::invalid_params);
  const Sequence head = node.log(kSession).size();
  CHECK(session_of(read(head)).as_of_sequence == head);
  const Error gone = error_of(read(head + 1));
  CHECK(gone.code == Code::gone);
  CHECK(gone.details == fmt::format(R"({{"lastSequence":{}}})", head));
  CHECK(error_of(node.ask("get_session", R"({"sessionId":"none","atSequence":1})")).code ==
        Code::not_found);
  CHECK(session_of(read(1)).history.empty());
  CHECK(session_of(read(1)).threads.empty());
  CHECK_FALSE(session_of(read(head)).title->empty());
  CHECK_FALSE(session_of(read(10)).title.has_value());
}

TEST_CASE("the past folds a limited number of facts, for a limited number of callers") {
  kernel::Limits limits;
  limits.past_facts_max = 20;
  Node node(options(limits));
  work(node);
  CHECK(node.ask("get_session", R"({"sessionId":"s","atSequence":20})").has_value());
  CHECK(error_of(node.ask("get_session", R"({"sessionId":"s","atSequence":21})")).code ==
        Code::limit_exceeded);
  std::vector<Node::Slot> slots;
  for (int i = 0; i < 4; ++i)
    slots.push_back(node.send("get_session", R"({"sessionId":"s","atSequence":20})"));
  node.settle();
  std::size_t answered = 0;
  std::size_t refused = 0;
  for (const Node::Slot& slot : slots) {
    REQUIRE(slot->has_value());
    if ((*slot)->has_value())
      ++answered;
    else if ((*slot)->error().code == Code::overloaded)
      ++refused;
  }
  CHECK(answered == limits.past_reads_max);
  CHECK(refused == 2);
  CHECK(node.ask("get_session", R"({"sessionId":"s","atSequence":20})").has_value());
}

TEST_CASE("looking at the past appends nothing and does not hold the session") {
  Node node(options());
  work(node);
  const auto before = node.log(kSession).size();
  const auto past = node.send("get_session", R"({"sessionId":"s","atSequence":9})");
  const auto write = node.ask("update_session", R"({"sessionId":"s","title":"Now"})");
  CHECK(write.has_value());
  node.settle();
  CHECK((*past)->has_value());
  CHECK(node.log(kSession).size() == before + 1);
}

namespace {

struct ListReply {
  std::vector<SessionSummary> data;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(ListReply, (), (data, next_cursor))

ListReply list(Node& node, const std::string& params) {
  const auto reply = node.ask("list_sessions", params);
  REQUIRE_MESSAGE(reply.has_value(), text_of(reply));
  ListReply out;
  REQUIRE(from_json(*reply, out, Unknown::refuse).has_value());
  return out;
}

std::vector<std::string> ids_of(const ListReply& reply) {
  std::vector<std::string> out;
  for (const SessionSummary& each : reply.data) out.push_back(each.session_id.text());
  return out;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST_CASE("sessions are listed by creation or by their last change") {
  Node node(options());
  for (const char* id : {"one", "two", "three"})
    REQUIRE(node.ask("create_session", fmt::format(R"({{"sessionId":"{}"}})", id)));
  REQUIRE(node.ask("submit_turn", submit("one", "u1", "t")));
  node.settle();
  REQUIRE(
      node.ask("update_session", R"({"sessionId":"two","title":"Fix the Größe of УКАЗАТЕЛЬ"})"));
  CHECK(ids_of(list(node, "{}")) == Ids{"three", "two", "one"});
  CHECK(ids_of(list(node, R"({"order":"created"})")) == Ids{"three", "two", "one"});
  CHECK(ids_of(list(node, R"({"order":"updated"})")) == Ids{"two", "one", "three"});

  const ListReply first = list(node, R"({"order":"updated","limit":2})");
  CHECK(ids_of(first) == Ids{"two", "one"});
  REQUIRE(first.next_cursor);
  const auto next = fmt::format(R"("cursor":"{}")", *first.next_cursor);
  CHECK(ids_of(list(node, R"({"order":"updated","limit":2,)" + next + "}")) == Ids{"three"});
  CHECK_FALSE(list(node, R"({"order":"updated","limit":3})").next_cursor);
  // A cursor goes with its order.
  CHECK(error_of(node.ask("list_sessions", "{" + next + "}")).code == Code::invalid_params);
  const ListReply created = list(node, R"({"limit":1})");
  CHECK(error_of(node.ask("list_sessions", fmt::format(R"({{"order":"updated","cursor":"{}"}})",
                                                       *created.next_cursor)))
            .message.starts_with("cursor: "));
}

TEST_CASE("sessions are filtered by status and by text, a limited number per call") {
  kernel::Limits limits;
  limits.sessions_scanned_max = 3;
  limits.page_max = 2;
  Node node(options(limits));
  for (const char* id : {"one", "two", "three", "four"})
    REQUIRE(node.ask("create_session",
                     fmt::format(R"({{"sessionId":"{}","title":"Größe ДОМА {}"}})", id, id)));
  CHECK(ids_of(list(node, R"({"text":"GRÖSSE"})")).empty());
  CHECK(ids_of(list(node, R"({"text":"gRÖß","limit":1})")) == Ids{"four"});
  CHECK(ids_of(list(node, R"({"text":"дома fo"})")) == Ids{"four"});
  CHECK(ids_of(list(node, R"({"text":"ДОМА FO","status":["idle"]})")) == Ids{"four"});
  CHECK(ids_of(list(node, R"({"status":["running","waiting_input"]})")).empty());
  CHECK(ids_of(list(node, R"({"status":[]})")).empty());
  // The fourth session is not examined by the first call.
  const ListReply none = list(node, R"({"text":" one"})");
  CHECK(none.data.empty());
  REQUIRE(none.next_cursor);
  const ListReply rest =
      list(node, fmt::format(R"({{"text":" one","cursor":"{}"}})", *none.next_cursor));
  CHECK(ids_of(rest) == Ids{"one"});
  CHECK_FALSE(rest.next_cursor);
  const std::string long_text(kSessionTextBytesMax + 1, 'x');
  const Error refused =
      error_of(node.ask("list_sessions", fmt::format(R"({{"text":"{}"}})", long_text)));
  CHECK(refused.code == Code::invalid_params);
  CHECK(refused.message.starts_with("text: "));
  for (const char* params : {R"({"order":"size"})", R"({"status":["busy"]})"})
    CHECK(error_of(node.ask("list_sessions", params)).code == Code::invalid_params);
}

}  // namespace agentrt::sim
