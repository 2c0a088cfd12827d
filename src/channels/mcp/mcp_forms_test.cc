#include "channels/mcp/mcp_forms.h"

#include <doctest/doctest.h>

namespace agentrt::channels {

using schema::ActionSnapshot;
using schema::Json;

TEST_CASE("an approval is a form with a decision, and only a decision answers it") {
  ActionSnapshot action;
  action.prompt = "Run rm?";
  action.input = Json{R"({"command":"rm x"})"};
  action.decisions = std::vector<std::string>{"allow", "deny"};
  const auto form = form_of(action);
  REQUIRE(form);
  CHECK(form->find(R"("enum":["allow","deny"])") != form->npos);
  CHECK(form->find(R"(Run rm?\n\n{\"command\":\"rm x\"})") != form->npos);

  const auto decided = [&](const char* result) {
    const auto answer = answer_in(action, Json{result});
    return answer ? answer->decision : std::string("none");
  };
  CHECK(decided(R"({"action":"accept","content":{"decision":"allow"}})") == "allow");
  CHECK(decided(R"({"action":"accept","content":{"decision":"deny"}})") == "deny");
  CHECK(decided(R"({"action":"decline"})") == "deny");
  for (const char* open :
       {R"({"action":"cancel"})", R"({"action":"accept"})", R"({"action":"accept","content":{}})",
        R"({"action":"accept","content":{"decision":"yes"}})", "{}", "[]",
        R"({"action":"accept","content":{"decision":true}})", R"({"action":7})"})
    CHECK_MESSAGE(decided(open) == "none", open);
}

TEST_CASE("a question is a form with its own schema") {
  ActionSnapshot action;
  action.decisions = std::vector<std::string>{"answer", "cancel"};
  CHECK(!form_of(action));  // nothing says what to ask for
  action.schema = Json{R"({"type":"object"})"};
  CHECK(form_of(action)->find(R"("requestedSchema":{"type":"object"})") != std::string::npos);
  const auto answer =
      answer_in(action, Json{R"({"action":"accept","content":{"answer":"red"},"x":1})"});
  REQUIRE(answer);
  CHECK(answer->decision == "answer");
  CHECK(answer->payload->text == R"({"answer":"red"})");
  CHECK(answer_in(action, Json{R"({"action":"decline"})"})->decision == "cancel");
  action.url = "https://example.com";
  CHECK(!form_of(action));
}

}  // namespace agentrt::channels
