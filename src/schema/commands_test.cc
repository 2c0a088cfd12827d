#include "schema/commands.h"

#include <doctest/doctest.h>

#include "schema/testing/samples.h"

namespace agentrt::schema {
namespace {

Error refusal(std::string_view name, std::string_view params) {
  const auto command = read_command(name, params);
  REQUIRE_FALSE(command);
  return command.error();
}

TEST_CASE("every command is read back as it was written") {
  samples::for_each_command_type([]<class C>(std::type_identity<C>) {
    CAPTURE(C::kTraits.name);
    const C whole = samples::whole<C>();
    if constexpr (requires { whole.generation; }) return;  // skips list_events
    const auto command = read_command(C::kTraits.name, to_json(whole));
    if (!command) FAIL(command.error().message);
    CHECK(std::get<C>(*command) == whole);
    CHECK(traits_of(*command).name == C::kTraits.name);
    CHECK(find_command(C::kTraits.name)->scope == C::kTraits.scope);
  });
}

TEST_CASE("an unknown command is not_found") {
  CHECK(refusal("fly", "{}").code == Code::not_found);
  CHECK(refusal("", "{}").code == Code::not_found);
  CHECK_FALSE(find_command("fly"));
}

TEST_CASE("params that are not one JSON object are refused") {
  for (const std::string_view params : {"", "null", "[]", "\"x\"", "{", "{}{}", "\xff"}) {
    CAPTURE(params);
    CHECK(refusal("list_sessions", params).code == Code::invalid_params);
  }
  CHECK(read_command("list_sessions", "{}"));
  CHECK(read_command("list_sessions", " { \"limit\" : 5 } "));
}

TEST_CASE("what is wrong in the params is named by its path") {
  CHECK(refusal("get_session", "{}").message == "sessionId: required member is missing");
  CHECK(refusal("get_session", R"({"sessionId":"a b"})").message.starts_with("sessionId: an id"));
  CHECK(refusal("get_session", R"({"sessionId":"s","colour":1})").message ==
        "colour: unknown member");
  CHECK(refusal("submit_turn", R"({"input":[{"type":"text","text":7}]})").message ==
        "input[0].text: expected a string");
  CHECK(refusal("submit_turn", R"({"input":[{"type":"sound"}]})").message ==
        "input[0].type: expected one of text, file, output");
  CHECK(refusal("submit_turn", R"({"input":[],"options":{"queuePolicy":"maybe"}})").message ==
        "options.queuePolicy: expected one of enqueue, reject, interrupt");
  CHECK(refusal("submit_turn", R"({"input":[],"options":{"mode":"default_"}})")
            .message.starts_with("options.mode: expected one of default, untrusted"));
  CHECK(refusal("list_events", R"({"sessionId":"s","after":-1})").message ==
        "after: expected a whole number, 0 or more");
}

TEST_CASE("an idempotency key has 1 to 256 characters") {
  const auto with_key = [](std::size_t size) {
    return R"({"idempotencyKey":")" + std::string(size, 'k') + R"("})";
  };
  CHECK(read_command("create_session", with_key(1)));
  CHECK(read_command("create_session", with_key(kIdempotencyKeySizeMax)));
  CHECK(refusal("create_session", with_key(0)).code == Code::invalid_params);
  CHECK(refusal("create_session", with_key(kIdempotencyKeySizeMax + 1)).message ==
        "idempotencyKey: expected 1 to 256 characters");
}

TEST_CASE("every mutating command takes an idempotency key, and no other does") {
  samples::for_each_command_type([]<class C>(std::type_identity<C>) {
    CAPTURE(C::kTraits.name);
    const bool takes_key = requires(C c) { c.idempotency_key; };
    // The replies of the first two have a secret, which a record of a key would keep. Repeating the
    // third changes nothing.
    const bool exempt = std::is_same_v<C, ConnectChannel> || std::is_same_v<C, ReconnectChannel> ||
                        std::is_same_v<C, AckEvents>;
    CHECK(takes_key == (C::kTraits.effect == CommandEffect::mutates && !exempt));
  });
}

TEST_CASE("the reply to every mutating command carries a sequence") {
  samples::for_each_command_type([]<class C>(std::type_identity<C>) {
    CAPTURE(C::kTraits.name);
    if constexpr (C::kTraits.effect == CommandEffect::mutates && !std::is_same_v<C, AckEvents>)
      CHECK(to_json(samples::whole<typename C::Reply>()).contains(R"("sequence":)"));
  });
}

TEST_CASE("a command tells its session and its key where it has them") {
  const auto command =
      read_command("update_session", R"({"sessionId":"s","title":"t","idempotencyKey":"k"})");
  REQUIRE(command);
  CHECK(session_of(*command) == SessionId{"s"});
  CHECK(idempotency_key_of(*command) == "k");
  const auto list = read_command("list_sessions", "{}");
  CHECK_FALSE(session_of(*list));
  CHECK_FALSE(idempotency_key_of(*list));
}

TEST_CASE("canonical params forget the key, the spelling and the order") {
  const auto canonical = [](std::string_view params) {
    const auto command = read_command("create_session", params);
    REQUIRE(command);
    return canonical_params(*command);
  };
  const std::string one = canonical(R"({"sessionId":"s","title":"\u0041","idempotencyKey":"k1"})");
  CHECK(one == R"({"sessionId":"s","title":"A"})");
  CHECK(canonical(R"( { "idempotencyKey":"k2", "title":"A", "sessionId":"s" } )") == one);
  CHECK(canonical(R"({"sessionId":"s","title":"A"})") == one);
  CHECK(canonical(R"({"sessionId":"s","title":"B"})") != one);
  CHECK(canonical(R"({"sessionId":"s","title":"A","metadata":{}})") != one);
}

TEST_CASE("metadata keeps its numbers as they were spelled") {
  const auto command =
      read_command("create_session", R"({"metadata":{"price":1.10,"big":9223372036854775808}})");
  REQUIRE(command);
  CHECK(std::get<CreateSession>(*command).metadata->text ==
        R"({"price":1.10,"big":9223372036854775808})");
}

TEST_CASE("a lone surrogate in the params is refused, not stored") {
  CHECK(refusal("create_session", R"({"title":"\ud800"})").code == Code::invalid_params);
  CHECK(refusal("create_session", R"({"metadata":{"a":"\udc00"}})").code == Code::invalid_params);
}

}  // namespace
}  // namespace agentrt::schema
