#include "channels/authorization.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace agentrt::channels {
namespace {

using schema::Command;

const SessionId kOwn{"sess_own"};

Identity identity_of(std::vector<TokenScope> scopes, std::optional<SessionId> session = {}) {
  return {.id = "tok_1", .scopes = std::move(scopes), .session = std::move(session), .folder = {}};
}

Identity everything(std::optional<SessionId> session = {}) {
  return identity_of({TokenScope::read, TokenScope::submit, TokenScope::approve},
                     std::move(session));
}

Command command_of(std::string_view name, std::string_view params) {
  auto command = schema::read_command(name, params);
  REQUIRE_MESSAGE(command.has_value(), (command ? "" : command.error().message));
  return *std::move(command);
}

// "allowed", or the code of the refusal.
template <class Request>
std::string outcome(const Result<ports::Authorized<Request>>& allowed) {
  return allowed ? "allowed" : std::string(code_name(allowed.error().code));
}

std::string ask(const Identity* identity, std::string_view name, std::string_view params) {
  return outcome(Authorization::command(identity, command_of(name, params), {}));
}

// Calls `test` with every command, empty but for its type.
template <class Test>
void for_each_command(Test test) {
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, schema::CommandTypes>>(
      [&]<class C>(std::type_identity<C>) { test(Command{C{}}, C::kTraits); });
}

// A transport cannot make the value that the kernel takes.
static_assert(!std::is_constructible_v<ports::Authorized<Command>, Command, ports::Caller> &&
              !std::is_default_constructible_v<ports::Authorized<Command>>);

}  // namespace

TEST_CASE("every command needs a token with its own scope") {
  for_each_command([](const Command& command, const schema::CommandTraits& traits) {
    CAPTURE(traits.name);
    CHECK(outcome(Authorization::command(nullptr, command, {})) == "unauthenticated");
    for (const auto scope :
         {TokenScope::read, TokenScope::submit, TokenScope::approve, TokenScope::admin}) {
      const Identity identity = identity_of({scope});
      const bool enough = scope == traits.scope || scope == TokenScope::admin;
      CHECK(outcome(Authorization::command(&identity, command, {})) ==
            (enough ? "allowed" : "forbidden"));
    }
    const Identity none = identity_of({});
    CHECK(outcome(Authorization::command(&none, command, {})) == "forbidden");
  });
}

TEST_CASE("a bound token reaches its own session and objects that are named by id alone") {
  struct Row {
    const char* name;
    const char* params;
    const char* outcome;
  };
  const Row rows[] = {
      {"get_session", R"({"sessionId":"sess_own"})", "allowed"},
      {"get_session", R"({"sessionId":"sess_other"})", "forbidden"},
      {"list_sessions", "{}", "forbidden"},
      {"list_actions", "{}", "forbidden"},
      {"list_actions", R"({"sessionId":"sess_own"})", "allowed"},
      {"get_tool_inventory", "{}", "forbidden"},
      {"get_trust", R"({"cwd":"/w"})", "forbidden"},
      {"trust_workspace", R"({"cwd":"/w","files":[]})", "forbidden"},
      {"get_rules", R"({"cwd":"/w"})", "forbidden"},
      {"get_rules", R"({"sessionId":"sess_own"})", "allowed"},
      {"set_folder_policy", R"({"cwd":"/w","mode":"auto"})", "forbidden"},
      {"create_session", "{}", "forbidden"},
      {"create_session", R"({"sessionId":"sess_own"})", "allowed"},
      {"submit_turn", R"({"input":[]})", "forbidden"},
      {"submit_turn", R"({"input":[],"turnId":"t"})", "forbidden"},
      {"submit_turn", R"({"input":[],"sessionId":"sess_own"})", "allowed"},
      {"respond_action", R"({"actionId":"a","decision":"allow"})", "allowed"},
      {"resolve_permission", R"({"actionId":"a","decision":"allow"})", "allowed"},
      {"terminate_process", R"({"processId":"p"})", "allowed"},
      {"terminate_process", R"({"processId":"p","sessionId":"sess_own"})", "allowed"},
      {"terminate_process", R"({"processId":"p","sessionId":"sess_other"})", "forbidden"},
  };
  const Identity bound = everything(kOwn);
  const Identity unbound = everything();
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.params);
    CHECK(ask(&bound, row.name, row.params) == row.outcome);
    CHECK(ask(&unbound, row.name, row.params) == "allowed");
  }
}

TEST_CASE("the kernel receives the session that the caller is bound to") {
  const Identity bound = everything(kOwn);
  const auto allowed =
      Authorization::command(&bound, command_of("terminate_process", R"({"processId":"p"})"),
                             {.request = RequestId{"req_1"},
                              .trace = TraceContext{TraceId{"4bf92f3577b34da6a3ce929d0e0e4736"},
                                                    SpanId{"00f067aa0ba902b7"}, true}});
  REQUIRE(allowed.has_value());
  CHECK(allowed->caller().session == kOwn);
  CHECK(allowed->caller().principal == "tok_1");
  CHECK(allowed->caller().request == RequestId{"req_1"});
  CHECK(allowed->caller().trace->trace == TraceId{"4bf92f3577b34da6a3ce929d0e0e4736"});
  CHECK(allowed->caller().folders.bound);
  CHECK(allowed->caller().folders.any);
  const Identity reader = identity_of({TokenScope::read});
  const auto read = Authorization::command(&reader, command_of("list_sessions", "{}"), {});
  REQUIRE(read.has_value());
  CHECK(!read->caller().session);
  CHECK(!read->caller().folders.any);
}

TEST_CASE("a turn that approves in advance needs the scope approve") {
  const Identity submits = identity_of({TokenScope::submit});
  const Identity approves = identity_of({TokenScope::submit, TokenScope::approve});
  struct Row {
    const char* options;
    const char* outcome;
  };
  const Row rows[] = {
      {R"({})", "allowed"},
      {R"({"mode":"default"})", "allowed"},
      {R"({"mode":"untrusted"})", "allowed"},
      {R"({"mode":"plan"})", "allowed"},
      {R"({"mode":"never"})", "allowed"},
      {R"({"mode":"on_request"})", "forbidden"},
      {R"({"mode":"on_failure"})", "forbidden"},
      {R"({"mode":"auto"})", "forbidden"},
      {R"({"mode":"bypass"})", "forbidden"},
      {R"({"sandbox":"workspace_write"})", "allowed"},
      {R"({"sandbox":"full_access"})", "forbidden"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.options);
    const std::string params = fmt::format(R"({{"input":[],"options":{}}})", row.options);
    CHECK(ask(&submits, "submit_turn", params) == row.outcome);
    CHECK(ask(&approves, "submit_turn", params) == "allowed");
  }
}

TEST_CASE("streams and outputs need a scope, and a bound token its own session") {
  const Identity bound = everything(kOwn);
  const Identity reader = identity_of({TokenScope::read});
  const Identity submits = identity_of({TokenScope::submit});
  const auto events = [](const Identity* identity, std::optional<SessionId> session) {
    return outcome(Authorization::events(identity, StreamStart{.session = std::move(session)}));
  };
  CHECK(events(nullptr, kOwn) == "unauthenticated");
  CHECK(events(&submits, kOwn) == "forbidden");
  CHECK(events(&reader, std::nullopt) == "allowed");
  CHECK(events(&bound, kOwn) == "allowed");
  CHECK(events(&bound, SessionId{"sess_other"}) == "forbidden");
  CHECK(events(&bound, std::nullopt) == "forbidden");

  CHECK(outcome(Authorization::output(nullptr, {"out_1"})) == "unauthenticated");
  CHECK(outcome(Authorization::output(&submits, {"out_1"})) == "forbidden");
  const auto output = Authorization::output(&bound, {"out_1"});
  REQUIRE(output.has_value());
  CHECK(output->caller().session == kOwn);

  const auto upload = [](const Identity* identity, SessionId session) {
    return outcome(Authorization::upload(identity, {std::move(session), "text/plain"}, {}));
  };
  CHECK(upload(nullptr, kOwn) == "unauthenticated");
  CHECK(upload(&reader, kOwn) == "forbidden");
  CHECK(upload(&bound, kOwn) == "allowed");
  CHECK(upload(&bound, SessionId{"sess_other"}) == "forbidden");
}

}  // namespace agentrt::channels
