#include "cli/chat/conversation.h"

#include <doctest/doctest.h>

using namespace agentrt;
using namespace agentrt::cli;

namespace {

// A conversation without colours, fed with events as the runtime sends them.
struct Talk {
  Talk() : conversation(ThreadId("main"), style()) {}

  static PageStyle style() {
    PageStyle style;
    style.layout = Layout::together;
    style.answer_on_terminal = true;
    style.width = 60;
    return style;
  }

  std::string see(const std::string& type, const std::string& turn, const std::string& payload,
                  const std::string& call = "") {
    return conversation.take(event(type, turn, payload, call));
  }
  Envelope event(const std::string& type, const std::string& turn, const std::string& payload,
                 const std::string& call = "") {
    Envelope event;
    event.type = type;
    event.sequence = ++sequence;
    event.timestamp = {1'000};
    event.session_id = SessionId("s");
    event.thread_id = ThreadId("main");
    event.turn_id = TurnId(turn);
    event.model_request_id = ModelRequestId("req");
    event.tool_call_id = ToolCallId(call.empty() ? "none" : call);
    event.payload = schema::Json{payload};
    return event;
  }

  std::string submit(const std::string& turn, const std::string& text, bool queued = false) {
    return see("turn.submitted", turn,
               R"({"status":")" + std::string(queued ? "queued" : "accepted") +
                   R"(","input":[{"type":"text","text":")" + text +
                   R"("}],"source":"user","options":{}})");
  }
  std::string begin(const std::string& turn) {
    return see("turn.started", turn, R"({"status":"running","bootId":"boot_1"})");
  }
  std::string end(const std::string& turn) {
    return see("turn.completed", turn,
               R"({"status":"completed","stopReason":"end_turn","usage":{"inputTokens":5,)"
               R"("outputTokens":7},"durationMs":12})");
  }

  Conversation conversation;
  Sequence sequence = 0;
};

}  // namespace

TEST_CASE("a message is shown when its turn begins, and the answer below it") {
  Talk talk;
  CHECK(talk.submit("t1", "hello\\nthere").empty());
  CHECK(talk.begin("t1") == "› hello\n  there\n\n");
  CHECK(talk.conversation.active() == TurnId("t1"));
  CHECK(talk.see("model.delta", "t1", R"({"text":"Hi. "})") == "Hi. ");
  CHECK(talk.end("t1") == "\n\n· 12 ms · 5 in · 7 out\n");
  CHECK_FALSE(talk.conversation.active());
  talk.submit("t2", "again");
  CHECK(talk.begin("t2") == "\n› again\n\n");
}

TEST_CASE("a table at the end of a message is shown") {
  Talk talk;
  PageStyle style = Talk::style();
  style.out_colour = Colour::on;
  style.tables = true;
  talk.conversation = Conversation(ThreadId("main"), style);
  talk.submit("t1", "go");
  talk.begin("t1");
  std::string shown = talk.see("model.delta", "t1", R"({"text":"| a |\n|---|\n| b |\n"})");
  CHECK_FALSE(shown.contains("b"));
  shown = talk.end("t1");
  CHECK(shown.contains("─"));
  CHECK(shown.contains("b\n"));
}

TEST_CASE("a long message is folded") {
  Talk talk;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "line\\n";
  talk.submit("t1", text + "end");
  const std::string shown = talk.begin("t1");
  CHECK(shown.contains("… 30 more lines"));
  CHECK_FALSE(shown.contains("end"));
}

TEST_CASE("the queue follows its changes") {
  Talk talk;
  talk.submit("t1", "one");
  talk.begin("t1");
  talk.submit("t2", "two", true);
  talk.submit("t3", "three", true);
  REQUIRE(talk.conversation.queue().size() == 2);
  const auto change = [&](const char* what, const char* turn, int position) {
    talk.see("queue.changed", turn,
             std::string(R"({"change":")") + what + R"(","turnId":")" + turn + R"(","position":)" +
                 std::to_string(position) + R"(,"count":1})");
  };
  change("promoted", "t3", 1);
  CHECK(talk.conversation.queue()[0].text == "three");
  change("removed", "t2", 0);
  CHECK(talk.conversation.queue().size() == 1);
  talk.end("t1");
  change("started", "t3", 0);
  CHECK(talk.begin("t3").contains("› three"));
  CHECK(talk.conversation.queue().empty());
}

TEST_CASE("calls get numbers, outputs are kept, and running commands show their last lines") {
  Talk talk;
  talk.submit("t1", "go");
  talk.begin("t1");
  talk.see("tool.started", "t1", R"({"toolName":"shell","safeArgs":{"command":"make"}})", "c1");
  for (int i = 0; i < 9; ++i)
    talk.see("process.output", "t1",
             R"({"stream":"stdout","text":"line )" + std::to_string(i) + R"(\n"})", "c1");
  CHECK(talk.conversation.running() ==
        std::vector<std::string>{"  line 5", "  line 6", "  line 7", "  line 8"});
  const std::string ended = talk.see(
      "tool.result", "t1", R"({"preview":"all of it","isError":false,"durationMs":3})", "c1");
  CHECK(ended == "✓ $ make · 3 ms · #1\n");
  CHECK(talk.conversation.running().empty());
  REQUIRE(talk.conversation.output(1) != nullptr);
  CHECK(talk.conversation.output(1)->title == "$ make");
  CHECK(talk.conversation.output(1)->ended == talk.sequence);
  CHECK(talk.conversation.output(2) == nullptr);
  CHECK(talk.conversation.output(0) == nullptr);
}

TEST_CASE("what is recalled counts, and is not shown") {
  Talk talk;
  const auto recall = [&](const char* type, const char* turn, const std::string& payload) {
    talk.conversation.recall(talk.event(type, turn, payload, "c1"));
  };
  recall("turn.submitted", "t1",
         R"({"status":"accepted","input":[{"type":"text","text":"one"}],)"
         R"("source":"user","options":{}})");
  recall("turn.started", "t1", R"({"status":"running","bootId":"boot_1"})");
  recall("tool.started", "t1", R"({"toolName":"write_file","safeArgs":{"path":"a.txt"}})");
  recall("tool.progress", "t1",
         R"({"change":{"path":"/w/a.txt","kind":"update","after":"x",)"
         R"("linesAdded":2,"linesRemoved":1,"diffRef":"out_1"}})");
  recall("tool.result", "t1", R"({"preview":"done","isError":false,"durationMs":3})");
  Envelope elsewhere = talk.event("tool.progress", "t2",
                                  R"({"change":{"path":"/w/b.txt","kind":"update","after":"x",)"
                                  R"("linesAdded":1,"linesRemoved":0,"diffRef":"out_2"}})",
                                  "c2");
  elsewhere.thread_id = ThreadId("other");
  talk.conversation.recall(elsewhere);
  recall("turn.completed", "t1",
         R"({"status":"completed","stopReason":"end_turn","usage":{"inputTokens":5,)"
         R"("outputTokens":7},"durationMs":12})");
  CHECK_FALSE(talk.conversation.active());
  CHECK_FALSE(talk.conversation.take_diff());
  REQUIRE(talk.conversation.files().size() == 2);
  CHECK(talk.conversation.files()[0].diffs == std::vector<std::string>{"out_1"});
  CHECK(talk.conversation.files()[1].path == "/w/b.txt");
  REQUIRE(talk.conversation.output(1) != nullptr);
  talk.submit("t3", "three");
  CHECK(talk.begin("t3") == "› three\n\n");
  talk.see("tool.started", "t3", R"({"toolName":"shell","safeArgs":{"command":"ls"}})", "c3");
  CHECK(talk.see("tool.result", "t3", R"({"isError":false,"durationMs":3})", "c3") ==
        "✓ $ ls · 3 ms · #2\n");
}

TEST_CASE("a call that is being written is one line that grows") {
  Talk talk;
  talk.submit("t1", "go");
  talk.begin("t1");
  talk.see("item.started", "t1", R"({"kind":"file_change","toolName":"write_file"})");
  talk.see(
      "item.updated", "t1",
      R"({"kind":"file_change","textBytes":12800,"preview":"{\"path\": \"src/a.cc\", \"con"})");
  REQUIRE(talk.conversation.doing());
  CHECK(talk.conversation.doing()->what == "writing: write src/a.cc · 12 KiB");
  talk.see("item.completed", "t1", R"({"kind":"file_change","status":"completed"})");
  const auto doing = talk.conversation.doing();
  CHECK((!doing || !doing->what.contains("writing")));
  CHECK(writing_text("shell", R"({"command": "make te)", 20) == "$ make te · 20 bytes");
  CHECK(writing_text("mcp__x__y", "{", 1) == "mcp__x__y · 1 bytes");
}

TEST_CASE("tokens are summed per model") {
  Talk talk;
  talk.submit("t1", "go");
  talk.begin("t1");
  talk.see("model.requested", "t1",
           R"({"provider":"p","model":"m-1","modelName":"main","requestRef":"log:1","number":1,)"
           R"("bootId":"boot_1"})");
  for (int i = 0; i < 2; ++i)
    talk.see("model.completed", "t1",
             R"({"text":"x","toolCalls":[],"stopReason":"end_turn","usage":{"inputTokens":10,)"
             R"("outputTokens":3},"provider":"p","model":"m-1","durationMs":1})");
  CHECK(talk.conversation.model_name() == "main");
  CHECK(talk.conversation.tokens().at("main").input == 20);
  CHECK(talk.conversation.context_tokens() == 13);
}

TEST_CASE("events of other threads are not shown") {
  Talk talk;
  Envelope event;
  event.type = "turn.started";
  event.thread_id = ThreadId("other");
  event.payload = schema::Json{R"({"status":"running","bootId":"boot_1"})"};
  CHECK(talk.conversation.take(event).empty());
  CHECK_FALSE(talk.conversation.active());
}

TEST_CASE("the start and the end of a job of the session are shown") {
  Talk talk;
  Envelope event;
  event.type = "job.created";
  event.session_id = SessionId("s");
  event.job_id = JobId("j");
  event.payload = schema::Json{R"({"items":2,"runner":{"kind":"command","command":"make"}})"};
  CHECK(talk.conversation.take(event).contains("job j started: 2 items, $ make"));
  talk.submit("t1", "hello");
  talk.begin("t1");
  event.type = "job.completed";
  event.payload = schema::Json{R"({"counts":{"pending":0,"running":0,"completed":2,"failed":0,)"
                               R"("reported":0}})"};
  CHECK(talk.conversation.take(event).contains("job j completed: 2 items"));
}
