// sim/binding_test.cc: tokens that are bound to a session, from the check of the token to the
// kernel's look-up of the objects that they name.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "sim/node.h"

namespace agentrt::sim {
namespace {

using schema::TokenScope;

channels::Identity bound_to(const std::string& session) {
  return {.id = "tok_" + session,
          .scopes = {TokenScope::read, TokenScope::submit, TokenScope::approve},
          .session = SessionId{session},
          .folder = {}};
}

void submit(Node& node, const std::string& session) {
  REQUIRE(node.ask("submit_turn", fmt::format(R"({{"sessionId":"{}","threadId":"t",)"
                                              R"("input":[{{"type":"text","text":"go"}}]}})",
                                              session)));
  node.settle(2'000);
}

std::string outcome(const ports::Reply& reply) {
  return reply ? "done" : std::string(code_name(reply.error().code));
}

// The same refusal, up to the id that it names.
std::string text_of(const ports::Reply& reply, const std::string& id) {
  std::string text = reply.error().message;
  return text.replace(text.find(id), id.size(), "ID");
}

}  // namespace

TEST_CASE("a bound token answers the actions of its session, and finds no others") {
  Node::Options options;
  options.policy.mode = schema::PermissionMode::default_;
  options.answers = {{{"Looking."}, 5, {}, {"make"}}, {{"Done."}, 5, {}, {}}};
  Node node(options);
  for (const auto* session : {"a", "b"}) submit(node, session);
  const auto action_of = [&](const std::string& session) {
    const state::Session view = node.replayed(SessionId{session});
    return view.threads.at(ThreadId{"t"}).active->action->id.text();
  };
  const auto params = [](const std::string& action) {
    return fmt::format(R"({{"actionId":"{}","decision":"allow"}})", action);
  };
  const std::string own = action_of("a");
  const std::string foreign = action_of("b");
  for (const auto* command : {"respond_action", "resolve_permission"}) {
    CAPTURE(command);
    const auto refused = node.ask_as(bound_to("a"), command, params(foreign));
    const auto unknown = node.ask_as(bound_to("a"), command, params("action_none"));
    CHECK(outcome(refused) == "not_found");
    CHECK(outcome(unknown) == "not_found");
    CHECK(text_of(refused, foreign) == text_of(unknown, "action_none"));
  }
  CHECK(outcome(node.ask_as(bound_to("a"), "respond_action", params(own))) == "done");
  // A second answer is told apart from one to another session's action.
  CHECK(outcome(node.ask_as(bound_to("a"), "respond_action", params(own))) == "conflict");
  CHECK(outcome(node.ask_as(bound_to("b"), "respond_action", params(own))) == "not_found");
  CHECK(outcome(node.ask_as(bound_to("b"), "resolve_permission", params(foreign))) == "done");
}

TEST_CASE("a bound token reaches the processes of its session by id alone, and no others") {
  Node::Options options;
  options.policy.mode = schema::PermissionMode::bypass;
  options.answers = {{{"Serving."}, 5, {}, {"serve &"}}, {{"Done."}, 5, {}, {}}};
  Node node(options);
  node.machine().hangs = true;
  for (const auto* session : {"a", "b"}) submit(node, session);
  const auto process_of = [&](const std::string& session) {
    const state::Session view = node.replayed(SessionId{session});
    REQUIRE(!view.processes.empty());
    return view.processes.begin()->first.text();
  };
  const std::string own = process_of("a");
  const std::string foreign = process_of("b");
  const auto params = [](const std::string& process, const std::string& more = "") {
    return fmt::format(R"({{"processId":"{}"{}}})", process, more);
  };
  const auto refused = node.ask_as(bound_to("a"), "terminate_process", params(foreign));
  const auto unknown = node.ask_as(bound_to("a"), "terminate_process", params("proc_none"));
  CHECK(outcome(refused) == "not_found");
  CHECK(text_of(refused, foreign) == text_of(unknown, "proc_none"));
  // Naming a session beside the process changes nothing.
  CHECK(outcome(node.ask_as(bound_to("a"), "terminate_process",
                            params(foreign, R"(,"sessionId":"a")"))) == "not_found");
  CHECK(outcome(node.ask_as(bound_to("a"), "terminate_process",
                            params(foreign, R"(,"sessionId":"b")"))) == "forbidden");
  CHECK(outcome(node.ask_as(bound_to("a"), "terminate_process", params(own))) == "done");
}

}  // namespace agentrt::sim
