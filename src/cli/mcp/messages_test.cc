#include "cli/mcp/messages.h"

#include <doctest/doctest.h>

#include "schema/codec.h"

namespace agentrt::cli {
namespace {

std::optional<std::string> keyed(const char* text) {
  const auto message = read_mcp_line(text);
  REQUIRE_MESSAGE(message, text);
  return with_turn_key(*message);
}

}  // namespace

TEST_CASE("a line is one message with a method or an id") {
  for (const char* text : {"", "[]", "{", "{}", "7", R"({"jsonrpc":"2.0"})"})
    CHECK_MESSAGE(!read_mcp_line(text), text);
  const auto message = read_mcp_line(R"({"jsonrpc":"2.0","id":"a\"b","method":"ping","x":1})");
  REQUIRE(message);
  CHECK(*message->id == R"("a\"b")");
  CHECK(with_id(*message, "1-2") == R"({"jsonrpc":"2.0","id":"1-2","method":"ping"})");
  CHECK(with_raw_id(*message, "7") == R"({"jsonrpc":"2.0","id":7,"method":"ping"})");
}

TEST_CASE("a call of run_turn without a key gets one, whatever its other members say") {
  const auto call = keyed(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t",)"
      R"("arguments":{}},"name":"run_turn","arguments":{"prompt":"\"arguments\": {"}}})");
  REQUIRE(call);
  CHECK(schema::check_json(*call));
  const std::string begin =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_turn",)"
      R"("arguments":{"idempotencyKey":"stdio-)";
  CHECK(call->starts_with(begin));
  CHECK(call->ends_with(R"(,"prompt":"\"arguments\": {"},"_meta":{"progressToken":"t",)"
                        R"("arguments":{}}}})"));
  CHECK(keyed(R"({"id":1,"method":"tools/call","params":{"name":"run_turn","arguments":{ }}})")
            ->ends_with(R"(" }}})"));
}

TEST_CASE("other calls stay as they are") {
  for (const char* text :
       {R"({"id":1,"method":"tools/call","params":{"name":"get_turn","arguments":{}}})",
        R"({"id":1,"method":"tools/call","params":{"name":"run_turn"}})",
        R"({"id":1,"method":"tools/call","params":{"name":"run_turn","arguments":[]}})",
        R"({"id":1,"method":"tools/call","params":{"name":"run_turn",
            "arguments":{"idempotencyKey":"k"}}})",
        R"({"id":1,"method":"ping","params":{"name":"run_turn","arguments":{}}})",
        R"({"id":1,"method":"tools/call"})"})
    CHECK_MESSAGE(!keyed(text), text);
}

TEST_CASE("an id of the server is only of the owner that used it") {
  CHECK(own_id(R"("3-12")", 3) == "12");
  CHECK(!own_id(R"("2-12")", 3));
  CHECK(!own_id("12", 3));
}

}  // namespace agentrt::cli
