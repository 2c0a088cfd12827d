#include <doctest/doctest.h>

#include "channels/agui/agui_events.h"
#include "channels/agui/agui_input.h"
#include "channels/agui/agui_sessions.h"

namespace agentrt::channels {
namespace {

AguiInput input_of(const std::string& text) {
  auto input = read_agui_input(text);
  REQUIRE_MESSAGE(input, text);
  return *std::move(input);
}

schema::Fact fact_of(std::string_view type, std::string_view payload) {
  schema::Fact fact;
  fact.ids.turn_id = TurnId{"turn"};
  fact.ids.model_request_id = ModelRequestId{"mr"};
  fact.ids.action_id = ActionId{"act"};
  auto read = schema::read_payload(type, payload);
  REQUIRE_MESSAGE(read, type);
  fact.payload = *std::move(read);
  return fact;
}

}  // namespace

TEST_CASE("the parts of a message are texts and bytes; unknown members are ignored") {
  const AguiInput input = input_of(
      R"({"threadId":"t","runId":"r","forwardedProps":{"x":[1]},"state":{},"context":[],
          "tools":[{"name":"alert"}],"messages":[
          {"id":"1","role":"user","content":[{"type":"text","text":"look"},
           {"type":"image","source":{"type":"data","value":"YWJj","mimeType":"image/png"}}]},
          {"id":"2","role":"assistant","toolCalls":[]},{"id":"3","role":"user","content":"x"}]})");
  REQUIRE(input.messages.size() == 3);
  REQUIRE(input.messages[0].parts.size() == 2);
  CHECK(input.messages[0].parts[0].text == "look");
  CHECK(input.messages[0].parts[1].media_type == "image/png");
  CHECK(input.messages[0].parts[1].bytes == "abc");
  CHECK(input.messages[1].parts.empty());
  CHECK(input.messages[2].parts[0].text == "x");
  CHECK(input.tools == std::vector<std::string>{"alert"});
  CHECK(!input.has_context);
  CHECK(!input.has_state);
  CHECK(!input.resume);
}

TEST_CASE("input that does not fit is refused") {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"threadId":"t"})", R"({"threadId":"","runId":"r"})",
        R"({"threadId":"t","runId":"r","messages":[{}]})",
        R"({"threadId":"t","runId":"r","messages":{}})",
        R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user"}]})",
        R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":7}]})",
        R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":[
            {"type":"image","source":{"type":"url","value":"https://x.example"}}]}]})",
        R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":[
            {"type":"image","source":{"type":"data","value":"?"}}]}]})",
        R"({"threadId":"t","runId":"r","resume":[{"status":"resolved"}]})"})
    CHECK_MESSAGE(!read_agui_input(text), text);
}

TEST_CASE("ids here are of the token, the thread and the run") {
  CHECK(agui_session_of("a", "t") == agui_session_of("a", "t"));
  CHECK(agui_session_of("a", "t") != agui_session_of("b", "t"));
  CHECK(agui_turn_of("a", "t", "rs") != agui_turn_of("a", "tr", "s"));
}

TEST_CASE("a run is identified by the content of the messages that it brought") {
  const AguiInput first = input_of(
      R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"a"}]})");
  const AguiInput more = input_of(
      R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"a"},
          {"id":"2","role":"user","content":"b"}]})");
  const AguiInput other = input_of(
      R"({"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"b"}]})");
  CHECK(agui_digest(first, {"1"}) == agui_digest(more, {"1"}));
  CHECK(agui_digest(first, {"1"}) != agui_digest(other, {"1"}));
  CHECK(!agui_digest(first, {"2"}));
}

TEST_CASE("what the run does not use is named") {
  CHECK(AguiEvents::ignored(input_of(R"({"threadId":"t","runId":"r"})")).empty());
  const auto ignored = AguiEvents::ignored(
      input_of(R"({"threadId":"t","runId":"r","state":{"a":1},"context":[{"value":"x"}]})"));
  REQUIRE(ignored.size() == 1);
  CHECK(ignored[0] ==
        R"({"type":"CUSTOM","name":"agentrt.ignored","value":{"context":true,"state":true}})");
}

TEST_CASE("a question closes what is open and ends the run; foreign turns are not shown") {
  AguiEvents events(input_of(R"({"threadId":"t","runId":"r"})"), SessionId{"s"});
  events.of_turn(TurnId{"turn"});
  const auto requested =
      fact_of("model.requested",
              R"({"provider":"p","model":"m","modelName":"n","requestRef":"log:1","number":1,)"
              R"("bootId":"b"})");
  CHECK(events.take(requested) ==
        std::vector<std::string>{R"({"type":"STEP_STARTED","stepName":"step 1"})"});
  CHECK(events.take(fact_of("model.delta", R"({"text":"Hi"})")).size() == 2);
  schema::Fact foreign = fact_of("model.delta", R"({"text":"child"})");
  foreign.ids.turn_id = TurnId{"child"};
  CHECK(events.take(foreign).empty());
  CHECK(!events.done());
  const auto question = events.take(fact_of(
      "action.required", R"({"actionType":"input","prompt":"Which?","decisions":["answer"],)"
                         R"("schema":{"type":"object"}})"));
  std::string types;
  for (const std::string& event : question) types += event.substr(9, event.find('"', 9) - 9) + " ";
  CHECK(types == "TEXT_MESSAGE_END STEP_FINISHED MESSAGES_SNAPSHOT STATE_SNAPSHOT RUN_FINISHED ");
  CHECK(question.back().find(R"("interrupts":[{"id":"act","reason":"input_required",)"
                             R"("message":"Which?","responseSchema":{"type":"object"}}])") !=
        std::string::npos);
  CHECK(events.done());
  CHECK(events.take(requested).empty());
}

}  // namespace agentrt::channels
