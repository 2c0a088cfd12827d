#include "cli/sessions/transcript.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using namespace schema;

template <class Payload>
Envelope event_of(const Payload& payload, const char* turn, const char* call = "") {
  Envelope event;
  event.type = Payload::kType;
  event.thread_id = ThreadId("main");
  event.turn_id = TurnId(turn);
  event.model_request_id = ModelRequestId("r");
  event.tool_call_id = ToolCallId(call);
  event.payload = Json{to_json(payload)};
  return event;
}

TurnSubmitted asks(std::string text) {
  TurnSubmitted submitted;
  submitted.input.emplace_back();
  submitted.input.back().text = std::move(text);
  return submitted;
}

ModelCompleted answers(std::string text) {
  ModelCompleted completed;
  completed.text = std::move(text);
  return completed;
}

ModelCompleted calls(std::string text) {
  ModelCompleted completed = answers(std::move(text));
  completed.tool_calls.push_back(
      {ToolCallId("c"), "shell", Json{R"({"command":"ls `x`"})"}, {}, {}});
  return completed;
}

}  // namespace

TEST_CASE("turns come out in the order of their submission, each when it has ended") {
  Transcript transcript;
  transcript.take(event_of(asks("one"), "t1"));
  transcript.take(event_of(asks("two"), "t2"));
  transcript.take(event_of(answers("second"), "t2"));
  transcript.take(event_of(TurnCompleted{}, "t2"));
  CHECK(transcript.take_ended().empty());
  transcript.take(event_of(answers("first"), "t1"));
  transcript.take(event_of(TurnCompleted{}, "t1"));
  transcript.take(event_of(asks("three"), "t3"));
  const auto ended = transcript.take_ended();
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].messages[0].text == "first");
  CHECK(ended[1].messages[0].text == "second");
  CHECK(transcript.take_ended().empty());
  const auto rest = transcript.take_rest();
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].status == "open");
  CHECK(transcript_markdown(rest[0], false).contains("*not finished*"));
}

TEST_CASE("a call is one line, with its outcome") {
  Transcript transcript;
  transcript.take(event_of(asks("look"), "t"));
  transcript.take(event_of(calls("I look."), "t"));
  ToolResult result;
  result.is_error = true;
  result.preview = "long output";
  result.duration_ms = 1'200;
  ProcessCompleted process;
  process.exit_code = 3;
  transcript.take(event_of(process, "t", "c"));
  transcript.take(event_of(result, "t", "c"));
  TurnFailed failed;
  failed.status = Status::cancelled;
  failed.reason = "interrupted";
  transcript.take(event_of(failed, "t"));
  const auto turns = transcript.take_ended();
  REQUIRE(turns.size() == 1);
  const std::string text = transcript_text(turns[0], true, {0}, {});
  CHECK(text.contains("thread main · t"));
  CHECK(text.contains("    look\n"));
  CHECK(text.contains("✗ $ ls `x` · exit code 3 · 1.2 s\n"));
  CHECK(text.contains("· cancelled: interrupted\n"));
  CHECK_FALSE(text.contains("long output"));
  CHECK(transcript_markdown(turns[0], false).contains("- `` $ ls `x` `` (failed, exit code 3)\n"));
}

TEST_CASE("a call that found no file was made, and one that was denied was not") {
  for (const auto& [policy, outcome] :
       {std::pair{"\"allowed\"", "failed"}, std::pair{"\"denied\"", "not_made"}}) {
    Transcript transcript;
    transcript.take(event_of(asks("look"), "t"));
    transcript.take(event_of(calls("I look."), "t"));
    transcript.take(
        event_of(ToolStarted{.tool_name = "read_file", .policy = Json{policy}}, "t", "c"));
    transcript.take(
        event_of(ToolFailed{.error = {Category::not_found, "no such file", false}}, "t", "c"));
    const TranscriptTurn turn = transcript.take_rest().front();
    CHECK(turn.messages[0].tool_calls[0].outcome == outcome);
    CHECK_FALSE(to_json(turn).contains("execution"));
  }
}

TEST_CASE("a text that is too long for its event is asked for by its range of the log") {
  Transcript transcript;
  transcript.take(event_of(asks("write"), "t"));
  ModelCompleted completed;
  completed.preview = "beg";
  completed.output_ref = "log:12-40";
  transcript.take(event_of(completed, "t"));
  const auto range = transcript.take_range();
  REQUIRE(range);
  CHECK((range->first == 12 && range->last == 40));
  CHECK_FALSE(transcript.take_range());
  transcript.put_text(range->request, "beginning and end");
  CHECK(transcript.take_rest()[0].messages[0].text == "beginning and end");
}

TEST_CASE("hostile text is escaped on paper for a terminal") {
  Transcript transcript;
  transcript.take(event_of(asks("a\x1b[31mb"), "t"));
  transcript.take(event_of(answers("x\x1b]0;t\x07y"), "t"));
  transcript.take(event_of(TurnCompleted{}, "t"));
  const auto turns = transcript.take_ended();
  const std::string text = transcript_text(turns[0], false, {0}, {80, Colour::off});
  CHECK_FALSE(text.contains('\x1b'));
  CHECK_FALSE(text.contains('\x07'));
}

}  // namespace agentrt::cli
