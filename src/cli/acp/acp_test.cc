#include <doctest/doctest.h>

#include "cli/acp/blocks.h"
#include "cli/acp/editor.h"
#include "cli/acp/updates.h"

namespace agentrt::cli {
namespace {

std::vector<EditorMessage> messages_in(std::initializer_list<std::string_view> input) {
  std::vector<EditorMessage> out;
  EditorWire editor([&](EditorMessage message) { out.push_back(std::move(message)); });
  for (const std::string_view bytes : input) editor.feed(bytes);
  return out;
}

Envelope event(std::string type, std::string payload) {
  Envelope out;
  out.type = std::move(type);
  out.turn_id = TurnId{"t"};
  out.model_request_id = ModelRequestId{"mr"};
  out.tool_call_id = ToolCallId{"tc"};
  out.payload = {std::move(payload)};
  return out;
}

}  // namespace

TEST_CASE("messages of the editor are lines, however they arrive") {
  const auto read =
      messages_in({R"({"jsonrpc":"2.0","id":1,"method":"a"})",
                   "\n{\"jsonrpc\":", "\"2.0\",\"method\":\"b\",\"params\":{\"x\":1}}\n\n"});
  REQUIRE(read.size() == 2);
  CHECK(read[0].id == "1");
  CHECK(read[0].method == "a");
  CHECK(!read[1].id);
  CHECK(read[1].params.text == R"({"x":1})");
}

TEST_CASE("a prompt consists of texts and bytes") {
  const auto parts = read_blocks(
      {{R"({"type":"text","text":"look"})"},
       {R"({"type":"image","data":"YWJj","mimeType":"image/jpeg"})"},
       {R"({"type":"resource_link","uri":"file:///a","name":"a"})"},
       {R"({"type":"resource","resource":{"uri":"file:///b","text":"b"},"annotations":{}})"}});
  REQUIRE(parts);
  REQUIRE(parts->size() == 4);
  CHECK((*parts)[0].text == "look");
  CHECK((*parts)[1].bytes == "abc");
  CHECK((*parts)[1].media_type == "image/jpeg");
  CHECK((*parts)[2].text == "[a](file:///a)");
  CHECK((*parts)[3].text == "<resource uri=\"file:///b\">\nb\n</resource>");
}

TEST_CASE("a block that is malformed or not offered is refused") {
  CHECK(!read_blocks({}));
  for (const char* block : {"7", "{}", R"({"type":"text"})", R"({"type":"image","data":"?"})",
                            R"({"type":"audio","data":"YWJj","mimeType":"audio/wav"})",
                            R"({"type":"resource"})", R"({"type":"image"})"})
    CHECK_MESSAGE(!read_blocks({{block}}), block);
}

TEST_CASE("an own prompt is not repeated, another one is shown") {
  AcpUpdates updates("/w");
  const std::string submitted = R"({"input":[{"type":"text","text":"hi"}],"source":"user"})";
  CHECK(updates.take(event("turn.submitted", submitted)).size() == 1);
  updates.own_turn(TurnId{"t"});
  CHECK(updates.take(event("turn.submitted", submitted)).empty());
}

TEST_CASE("text that was streamed is not repeated when the answer is complete") {
  AcpUpdates updates("/w");
  const std::string completed =
      R"({"text":"Hi","toolCalls":[],"stopReason":"end_turn","usage":{"inputTokens":1,)"
      R"("outputTokens":1},"provider":"p","model":"m","durationMs":1})";
  CHECK(updates.take(event("model.delta", R"({"text":"Hi"})")) ==
        std::vector<std::string>{R"({"sessionUpdate":"agent_message_chunk","content":)"
                                 R"({"type":"text","text":"Hi"},"messageId":"mr"})"});
  CHECK(updates.take(event("model.completed", completed)).empty());
  CHECK(updates.take(event("model.completed", completed)).size() == 1);  // replayed: no deltas
}

TEST_CASE("tools have the kinds of editors") {
  CHECK(kind_of_tool("read_file") == "read");
  CHECK(kind_of_tool("write_file") == "edit");
  CHECK(kind_of_tool("shell") == "execute");
  CHECK(kind_of_tool("mcp__files__read") == "other");
}

}  // namespace agentrt::cli
