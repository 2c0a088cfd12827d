// adapters/models/wires/wires_test.cc: tests what each wire writes and reads.
// tests/e2e/models_test.py tests complete exchanges against a fake provider.
#include <doctest/doctest.h>

#include "adapters/models/testing/model_fixture.h"
#include "adapters/models/wires/json_events.h"
#include "adapters/models/wires/json_text.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

using Lines = std::vector<std::string>;

const Subject kSubject{.name = "main",
                       .model = "m",
                       .model_setting = "model in [models.main]",
                       .address = "http://host",
                       .key_env = "KEY",
                       .key = "secret-key"};

Endpoint endpoint(const std::string& provider) {
  Endpoint out;
  out.provider = provider;
  out.model = "m";
  out.base_url = "http://host/v1";
  out.key = "secret-key";
  return out;
}

// The listener's events for an answer, with pieces of text joined.
Lines heard(Answer& answer) {
  RecordingListener listener;
  for (Said& said : answer.take()) {
    if (auto* text = std::get_if<SaidText>(&said)) listener.on_text(text->text);
    if (auto* text = std::get_if<SaidReasoning>(&said)) listener.on_reasoning(text->text);
    if (auto* call = std::get_if<SaidCall>(&said)) listener.on_call(call->name, call->args);
    if (auto* end = std::get_if<SaidEnd>(&said))
      listener.said.push_back(std::string(name_of(end->reason)) + " " + to_json(end->usage));
    if (auto* fault = std::get_if<ports::ModelFault>(&said))
      listener.said.push_back(std::string(name_of(fault->error.category)) + ": " +
                              fault->error.message);
  }
  return listener.said;
}

Lines read(const std::string& provider, const Lines& events) {
  Answer answer;
  const auto reader = wire_of(provider)->read(answer, kSubject);
  for (const std::string& data : events) reader->on_event("message", data);
  reader->on_end();
  return heard(answer);
}

std::string chat(const std::string& delta, const std::string& finish = "null") {
  return R"({"choices":[{"delta":)" + delta + R"(,"finish_reason":)" + finish + "}]}";
}

// One event per line; a line that begins with a space continues the previous one.
Lines events_of(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line.starts_with(' '))
      out.back() += line;
    else
      out.emplace_back(line);
  }
  return out;
}

constexpr std::string_view kChatEvents = R"(
{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}
{"choices":[{"delta":{"reasoning":"Hm"}}]}
{"choices":[{"delta":{"content":"H"}}]}
{"choices":[{"delta":{"content":"i"}}]}
{"choices":[{"delta":{"tool_calls":[
 {"index":0,"id":"a","function":{"name":"shell","arguments":""}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"command\":"}}]}}]}
{"choices":[{"delta":{"tool_calls":[
 {"index":1,"id":"b","function":{"name":"other","arguments":""}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ls\"}"}}]}}]}
{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}
{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,
 "prompt_tokens_details":{"cached_tokens":4}}}
[DONE]
)";

constexpr std::string_view kResponsesEvents = R"(
{"type":"response.created","response":{}}
{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hm"}
{"type":"response.output_text.delta","output_index":1,"delta":"Hi"}
{"type":"response.output_item.added","output_index":2,
 "item":{"type":"function_call","name":"shell"}}
{"type":"response.function_call_arguments.delta","output_index":2,
 "delta":"{\"command\":\"ls\"}"}
{"type":"response.output_item.added","output_index":3,
 "item":{"type":"function_call","name":"other"}}
{"type":"response.completed","response":{"usage":{"input_tokens":10,"output_tokens":5,
 "input_tokens_details":{"cached_tokens":4}}}}
)";

constexpr std::string_view kAnthropicEvents = R"(
{"type":"message_start","message":{"usage":{"input_tokens":6,"output_tokens":1,
 "cache_read_input_tokens":4}}}
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}
{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}
{"type":"ping"}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","name":"shell"}}
{"type":"content_block_delta","index":2,
 "delta":{"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}}
{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","name":"other"}}
{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}
{"type":"message_stop"}
)";

}  // namespace

TEST_CASE("the same answer gives the same events on every wire") {
  const Lines expected = {"r:Hm", "t:Hi", R"(c:shell {"command":"ls"})", "c:other {}",
                          R"(tool_use {"inputTokens":10,"outputTokens":5,"cachedTokens":4})"};
  CHECK(read("openai_chat", events_of(kChatEvents)) == expected);
  CHECK(read("openai_responses", events_of(kResponsesEvents)) == expected);
  CHECK(read("anthropic", events_of(kAnthropicEvents)) == expected);
}

TEST_CASE("pieces of calls arrive on every wire, numbered in the order of the calls") {
  using Pieces = std::vector<std::pair<std::size_t, std::string>>;
  const auto pieces = [](const std::string& provider, std::string_view events) {
    Answer answer;
    const auto reader = wire_of(provider)->read(answer, kSubject);
    for (const std::string& data : events_of(events)) reader->on_event("message", data);
    Pieces out;
    for (Said& said : answer.take())
      if (auto* piece = std::get_if<SaidCallPiece>(&said))
        out.emplace_back(piece->number, piece->name + " " + piece->piece);
    return out;
  };
  CHECK(pieces("openai_chat", kChatEvents) ==
        Pieces{{0, "shell {\"command\":"}, {1, "other "}, {0, "shell \"ls\"}"}});
  CHECK(pieces("openai_responses", kResponsesEvents) == Pieces{{0, "shell {\"command\":\"ls\"}"}});
  CHECK(pieces("anthropic", kAnthropicEvents) == Pieces{{0, "shell {\"command\":\"ls\"}"}});
}

TEST_CASE("calls that a server gives one index are told apart by their ids") {
  CHECK(
      read(
          "openai_chat",
          {chat(
               R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]})"),
           chat(
               R"({"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]})"),
           chat("{}", R"("tool_calls")"), "[DONE]"}) ==
      Lines{"c:x {}", "c:y {}", R"(tool_use {"inputTokens":0,"outputTokens":0})"});
}

TEST_CASE("calls of one index without ids begin with a name behind whole arguments") {
  const auto piece = [](const char* call) {
    return chat(std::string(R"({"tool_calls":[)") + call + "]}");
  };
  const std::string end = chat("{}", R"("tool_calls")");
  const Lines expected = {R"(c:x {"a":1})", R"(c:y {"b":2})",
                          R"(tool_use {"inputTokens":0,"outputTokens":0})"};
  CHECK(read("openai_chat", {piece(R"({"function":{"name":"x","arguments":"{\"a\":1}"}})"),
                             piece(R"({"function":{"name":"x","arguments":""}})"),
                             piece(R"({"function":{"name":"y","arguments":"{\"b\":2}"}})"), end,
                             "[DONE]"}) == expected);
  // Every piece has its own id; only the first has the name.
  CHECK(read("openai_chat",
             {piece(R"({"index":0,"id":"1","function":{"name":"x","arguments":"{\"a\""}})"),
              piece(R"({"index":0,"id":"2","function":{"arguments":":1}"}})"),
              piece(R"({"index":1,"id":"3","function":{"name":"y","arguments":{"b":2}}})"), end,
              "[DONE]"}) == expected);
}

TEST_CASE("arguments that come whole count where no piece of them comes") {
  CHECK(read("openai_responses", events_of(R"(
{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"x"}}
{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}
{"type":"response.completed","response":{}}
)"))[0] == R"(c:x {"a":1})");
  CHECK(read("anthropic", events_of(R"(
{"type":"content_block_start","index":0,
 "content_block":{"type":"tool_use","name":"x","input":{"a":1}}}
{"type":"message_stop"}
)"))[0] == R"(c:x {"a":1})");
}

TEST_CASE("content in parts is text and reasoning") {
  CHECK(read("openai_chat",
             {chat(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},)"
                   R"({"type":"text","text":"Hi"}]})",
                   R"("stop")"),
              "[DONE]"}) ==
        Lines{"r:Hm", "t:Hi", R"(end_turn {"inputTokens":0,"outputTokens":0})"});
}

TEST_CASE("events without data are passed over") {
  CHECK(read("openai_chat", {"", " ", chat(R"({"content":"Hi"})", R"("stop")"), "[DONE]"}).size() ==
        2);
}

TEST_CASE("earlier calls are sent in a form that every provider accepts") {
  ports::ModelRequest request;
  request.messages.push_back({.text = "go"});
  ports::Message answer;
  answer.role = ports::Role::assistant;
  answer.text = " \n";
  answer.calls = {
      {ToolCallId{"call_01m7gsrkqb002aznpfa3hh90xy"}, "functions.sh\xc3\xa4", Json{R"("{\"cut")"}},
      {ToolCallId{"call_2"}, "", Json{R"({"a":1})"}}};
  request.messages.push_back(answer);
  for (const char* provider : {"openai_chat", "openai_responses", "anthropic"}) {
    CAPTURE(provider);
    const std::string body = wire_of(provider)->write(endpoint(provider), request).body;
    CHECK(check_json(body));
    CHECK(body.contains(R"("name":"functions_sh__")"));
    CHECK(body.contains(R"("name":"unknown")"));
    CHECK((body.contains(R"({"not_json":"{\"cut"})") ||
           body.contains(R"("{\"not_json\":\"{\\\"cut\"}")")));
  }
  CHECK(openai_chat_wire()
            .write(endpoint("openai_chat"), request)
            .body.contains(R"("id":"a3hh90xy")") == false);
  CHECK(openai_chat_wire()
            .write(endpoint("openai_chat"), request)
            .body.contains(R"("id":"fa3hh90xy")"));
  CHECK_FALSE(anthropic_wire().write(endpoint("anthropic"), request).body.contains(R"(" \n")"));
}

TEST_CASE("what a provider reasoned goes back to it with the calls, and to nobody else") {
  const auto state_of = [](const std::string& provider, const Lines& events) -> std::string {
    Answer answer;
    const auto reader = wire_of(provider)->read(answer, kSubject);
    for (const std::string& data : events) reader->on_event("message", data);
    for (Said& said : answer.take())
      if (auto* state = std::get_if<SaidState>(&said)) return state->state.text;
    return "";
  };
  const std::string chat_state = state_of(
      "openai_chat", {chat(R"({"reasoning_content":"Hm","tool_calls":[{"function":{"name":"x"}}]})",
                           R"("tool_calls")"),
                      "[DONE]"});
  CHECK(chat_state == R"("Hm")");
  CHECK(state_of("openai_chat",
                 {chat(R"({"reasoning":"Hm","tool_calls":[{"function":{"name":"x"}}]})",
                       R"("tool_calls")"),
                  "[DONE]"}) == "");
  CHECK(state_of("openai_chat", {chat(R"({"reasoning_content":"Hm","content":"Hi"})", R"("stop")"),
                                 "[DONE]"}) == "");
  const std::string responses_state = state_of("openai_responses", events_of(R"(
{"type":"response.output_item.done","output_index":0,
 "item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"abc"}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"x"}}
{"type":"response.completed","response":{}}
)"));
  CHECK(responses_state ==
        R"([{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"abc"}])");
  const std::string anthropic_state = state_of("anthropic", events_of(R"(
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}
{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zz"}}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","name":"x","input":{}}}
{"type":"message_stop"}
)"));
  CHECK(anthropic_state == R"([{"type":"thinking","thinking":"Hm","signature":"s1"},)"
                           R"({"type":"redacted_thinking","data":"zz"}])");

  for (const auto& [provider, state, written] :
       {std::tuple{"openai_chat", chat_state, R"("reasoning_content":"Hm")"},
        {"openai_responses", responses_state, R"({"id":"rs_1","type":"reasoning")"},
        {"anthropic", anthropic_state, R"([{"type":"thinking","thinking":"Hm")"}}) {
    CAPTURE(provider);
    ports::Message answer;
    answer.role = ports::Role::assistant;
    answer.calls = {{ToolCallId{"call_1"}, "x", Json{"{}"}}};
    answer.state = ports::ProviderState{provider, "m", Json{state}};
    ports::ModelRequest request;
    request.messages = {{.text = "go"}, answer};
    Endpoint asked = endpoint(provider);
    asked.reasons = true;
    const std::string body = wire_of(provider)->write(asked, request).body;
    CHECK(check_json(body));
    CHECK(body.contains(written));
    asked.model = "another";
    const std::string other = wire_of(provider)->write(asked, request).body;
    CHECK_FALSE(other.contains(written));
    if (asked.provider != "anthropic") continue;
    CHECK(body.contains(R"("thinking":{"type":"enabled","budget_tokens":4096})"));
    CHECK_FALSE(other.contains("budget_tokens"));
  }
}

TEST_CASE("messages of the user in a row are one to a chat") {
  ports::ModelRequest request;
  request.messages = {{.text = "one"}, {.text = "two"}};
  CHECK(openai_chat_wire()
            .write(endpoint("openai_chat"), request)
            .body.contains(R"("content":"one\n\ntwo")"));
}

TEST_CASE("a server that leaves out its last word is believed when it said why it stopped") {
  CHECK(read("openai_chat", {chat(R"({"content":"Hi"})"), chat("{}", R"("length")")}) ==
        Lines{"t:Hi", R"(max_tokens {"inputTokens":0,"outputTokens":0})"});
  CHECK(read("openai_chat", {chat(R"({"content":"Hi"})")}) ==
        Lines{"t:Hi", "provider: the answer broke off before its end"});
}

TEST_CASE("nothing is reported after the end") {
  CHECK(read("openai_chat", {chat(R"({"content":"Hi"})", R"("stop")"), "[DONE]",
                             chat(R"({"content":"more"})"), "[DONE]", "garbage"})
            .size() == 2);
}

TEST_CASE("arguments that are no JSON object become a JSON string, none become an object") {
  Answer answer;
  answer.name_call(0, "a");
  answer.add_args(0, R"({"command": "ec)");
  answer.name_call(1, "b");
  answer.name_call(2, "c");
  answer.add_args(2, "[1]");
  answer.complete();
  CHECK(heard(answer) == Lines{R"(c:a "{\"command\": \"ec")", "c:b {}", R"(c:c "[1]")",
                               R"(tool_use {"inputTokens":0,"outputTokens":0})"});
}

TEST_CASE("a limit that cuts off a call is reported with it") {
  Answer answer;
  answer.name_call(0, "a");
  answer.add_args(0, R"({"content": "a lo)");
  answer.set_stop(StopReason::max_tokens);
  answer.complete();
  CHECK(heard(answer).back().starts_with("max_tokens"));
}

TEST_CASE("what an answer may hold is bounded") {
  Answer calls;
  for (std::uint64_t i = 0; i <= kStreamedCallsMax; ++i) calls.name_call(i, "x");
  CHECK(calls.over());
  CHECK(heard(calls).back().contains("more than 128 calls"));
  Answer args;
  const std::string piece(64 << 10, 'x');
  for (std::size_t sent = 0; sent <= kStreamedArgsBytesMax; sent += piece.size())
    args.add_args(0, piece);
  CHECK(args.over());
  CHECK(heard(args).back().contains("1024 KiB of arguments"));
}

TEST_CASE("an answer of neither text nor calls is a failure") {
  Answer empty;
  empty.add_reasoning("Hm");
  empty.set_stop(StopReason::end_turn);
  empty.complete();
  CHECK(heard(empty).back().contains("empty answer"));
  Answer cut;
  cut.set_stop(StopReason::max_tokens);
  cut.complete();
  CHECK(heard(cut).back().contains("max_output_tokens"));
  Answer refused;
  refused.set_stop(StopReason::content_filter);
  refused.complete();
  CHECK(heard(refused).back().contains("withheld the answer"));
  Answer half;
  half.add_text("Hi");
  half.set_stop(StopReason::content_filter);
  half.complete();
  CHECK(heard(half).back().starts_with("content_filter"));
}

TEST_CASE("an event that is no JSON object ends the answer, whatever the wire") {
  for (const char* provider : {"openai_chat", "openai_responses", "anthropic"})
    for (const char* data : {"nonsense", "[1]", "{\"a\":\"\xc3\"}", R"({"a":)"}) {
      const Lines said = read(provider, {data, R"({"type":"message_stop"})"});
      REQUIRE(said.size() == 1);
      CHECK(said[0].starts_with("provider: the provider sent an event that is not valid JSON"));
    }
}

TEST_CASE("members of other types than expected are passed over") {
  CHECK(read("openai_chat", {R"({"choices":[{"delta":{"content":5,"tool_calls":"x"}}]})",
                             R"({"choices":"x","usage":[]})", R"({"choices":[]})",
                             chat(R"({"content":"Hi"})", R"("stop")"), "[DONE]"}) ==
        Lines{"t:Hi", R"(end_turn {"inputTokens":0,"outputTokens":0})"});
}

TEST_CASE("the key goes into a header and nowhere else") {
  ports::ModelRequest request;
  request.messages.push_back({.text = "hello"});
  for (const char* provider : {"openai_chat", "openai_responses", "anthropic"}) {
    const HttpRequest http = wire_of(provider)->write(endpoint(provider), request);
    CHECK_FALSE(http.url.contains("secret-key"));
    CHECK_FALSE(http.body.contains("secret-key"));
    int headers = 0;
    for (const std::string& header : http.headers) headers += header.contains("secret-key");
    CHECK(headers == 1);
    CHECK(check_json(http.body));
  }
}

TEST_CASE("every wire leads to its own place behind base_url") {
  const auto url = [](Endpoint of) { return wire_of(of.provider)->write(of, {}).url; };
  CHECK(url(endpoint("openai_chat")) == "http://host/v1/chat/completions");
  CHECK(url(endpoint("openai_responses")) == "http://host/v1/responses");
  CHECK(url(endpoint("anthropic")) == "http://host/v1/messages");
  Endpoint bare = endpoint("anthropic");
  bare.base_url = "http://host";
  CHECK(url(bare) == "http://host/v1/messages");
}

TEST_CASE("the limit of the answer has the name that the server knows") {
  Endpoint own = endpoint("openai_chat");
  own.max_output_tokens = 7;
  CHECK(openai_chat_wire().write(own, {}).body.contains(R"("max_tokens":7)"));
  own.base_url = "https://api.openai.com/v1";
  CHECK(openai_chat_wire().write(own, {}).body.contains(R"("max_completion_tokens":7)"));
  CHECK(openai_responses_wire().write(own, {}).body.contains(R"("max_output_tokens":7)"));
  CHECK(anthropic_wire().write(own, {}).body.contains(R"("max_tokens":7)"));
  CHECK(anthropic_wire().write(endpoint("anthropic"), {}).body.contains(R"("max_tokens":8192)"));
}

TEST_CASE("documents and images are written as base64 of their kind") {
  ports::ModelRequest request;
  request.messages.push_back(
      {.text = "look",
       .attachments = {{"a.png", "image/png", "png"}, {"b.pdf", "application/pdf", "pd"}}});
  const auto body = [&](const char* provider) {
    return wire_of(provider)->write(endpoint(provider), request).body;
  };
  CHECK(body("openai_chat").contains(R"("image_url":{"url":"data:image/png;base64,cG5n"})"));
  CHECK(body("openai_chat").contains(R"("filename":"b.pdf","file_data":"data:application/pdf)"));
  CHECK(body("openai_responses").contains(R"("type":"input_file","filename":"b.pdf")"));
  CHECK(body("anthropic").contains(R"("type":"document")"));
  CHECK(body("anthropic").contains(R"("data":"cGQ=")"));
}

TEST_CASE("images of tool results are part of the result, or follow all results of an answer") {
  ports::ModelRequest request;
  request.messages.push_back({.text = "look"});
  ports::Message answer{.role = ports::Role::assistant, .text = "I look."};
  answer.calls = {{ToolCallId{"call_000000001"}, "read_file", {"{}"}},
                  {ToolCallId{"call_000000002"}, "read_file", {"{}"}}};
  request.messages.push_back(answer);
  ports::Message result{.role = ports::Role::tool, .text = "an image"};
  result.answers = ToolCallId{"call_000000001"};
  result.attachments = {{"out_1", "image/png", "png"}};
  request.messages.push_back(result);
  request.messages.push_back(
      {.role = ports::Role::tool, .text = "text", .answers = ToolCallId{"call_000000002"}});
  request.messages.push_back({.text = "[note]"});
  const auto body = [&](const char* provider) {
    return wire_of(provider)->write(endpoint(provider), request).body;
  };
  CHECK(body("anthropic")
            .contains(R"("content":[{"type":"text","text":"an image"},{"type":"image","source":)"
                      R"({"type":"base64","media_type":"image/png","data":"cG5n"}}])"));
  CHECK(body("anthropic").contains(R"("content":"text")"));
  CHECK(body("openai_responses")
            .contains(R"("output":[{"type":"input_text","text":"an image"},{"type":)"
                      R"("input_image","image_url":"data:image/png;base64,cG5n"}])"));
  CHECK(body("openai_responses").contains(R"("output":"text")"));
  CHECK(body("openai_chat")
            .contains(R"({"role":"tool","content":"text","tool_call_id":"000000002"},)"
                      R"({"role":"user","content":[{"type":"text","text":"[The images of the tool )"
                      R"(results above, in order.]\n\n[note]"},{"type":"image_url","image_url":)"
                      R"({"url":"data:image/png;base64,cG5n"}}]})"));
  CHECK(body("openai_chat").contains(R"({"role":"tool","content":"an image",)"));
}

TEST_CASE("commas of written JSON take care of themselves") {
  JsonText out;
  out.open('{').member("a", "x").key("b").open('[').number(1).open('{').close('}').raw("null");
  out.close(']').key("c").string("\"").close('}');
  CHECK(out.take() == R"({"a":"x","b":[1,{},null],"c":"\""})");
}

}  // namespace agentrt::adapters
