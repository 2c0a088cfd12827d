// conversation/history/turn_messages_test.cc: tests the conversion of a turn's facts to messages.
#include "conversation/messages/turn_messages.h"

#include <doctest/doctest.h>

#include "base/digest.h"
#include "base/tokens.h"
#include "conversation/history/testing/history_desk.h"

namespace agentrt::conversation {

using namespace schema;
using state::Given;
using state::kSession;

namespace {

ToolScope tool_scope(const std::string& turn, const std::string& call) {
  return {state::turn_scope(turn), StepId{"step_" + call}, ToolCallId{call}};
}

RequestedCall call(const std::string& id, const std::string& args = "{}") {
  return {ToolCallId{id}, "shell", Json{args}, {}};
}

CatalogTool tool(const std::string& name, const std::string& policy) {
  return {.tool_name = name, .description = "d", .input_schema = Json{"{}"}, .policy = policy};
}

// The messages of the requesting turn that follow its input.
std::vector<ports::Message> so_far(const ports::HistoryWindow& window) {
  REQUIRE(window.question.has_value());
  return {window.messages.begin() + static_cast<std::ptrdiff_t>(*window.question) + 1,
          window.messages.end()};
}

// The messages of the turns before it.
std::vector<ports::Message> earlier(const ports::HistoryWindow& window) {
  return {window.messages.begin(),
          window.messages.begin() + static_cast<std::ptrdiff_t>(window.own)};
}

Given with_calls() {
  Given given;
  given.session().thread_started().running("1").asked("1");
  given.fact(state::turn_scope("1"),
             ToolCatalogResolved{std::vector{tool("shell", "allowed"), tool("other", "denied")}});
  given.fact(state::model_scope("1"),
             ModelCompleted{.text = "Looking.",
                            .tool_calls = {call("a", R"({"x":1})"), call("b"), call("c")},
                            .stop_reason = StopReason::tool_use});
  for (const char* id : {"a", "b"}) {
    given.fact(tool_scope("1", id), ItemStarted{});
    given.fact(tool_scope("1", id), ToolStarted{.tool_name = "shell"});
  }
  given.fact(tool_scope("1", "a"), ToolResult{.preview = "out", .output_ref = "out_1"});
  given.fact(tool_scope("1", "b"), ToolFailed{.error = {Category::denied, "no", false}});
  return given;
}

}  // namespace

TEST_CASE("a turn's calls have their results, in order, and one without says so") {
  HistoryDesk desk{with_calls()};
  const ports::HistoryWindow window = desk.window("1");
  CHECK(told(so_far(window)) ==
        Lines{R"(assistant: Looking. a{"x":1} b{} c{})",
              "tool: out\n[This is part of the output. read_file reads all of it at output:out_1.] "
              "for a",
              "tool: The call failed (denied): no for b (error)",
              "tool: The call did not run: the turn ended first. for c (error)"});
  REQUIRE(window.tools.size() == 1);
  CHECK(window.tools[0].name == "shell");
  CHECK(window.input.size() == 1);
}

TEST_CASE(
    "an attached file is sent from its stored copy, and the first one that was answered stays") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1);
  reading.set_input({{InputKind::text, "look", {}},
                     {InputKind::file, {}, "a/b.txt"},
                     {InputKind::file, {}, "c.png"},
                     {InputKind::file, {}, "gone"}});
  Fact fact;
  ContextResolved context;
  context.workspace_refs = {
      {.ref = "file:a/b.txt", .size = 5, .output_ref = "out_1"},
      {.ref = "file:c.png", .output_ref = "out_2", .media_type = "image/png"}};
  context.missing = {{.ref = "file:gone", .reason = "it does not exist"}};
  fact.payload = context;
  reading.take(fact);
  const ports::Message question = reading.messages().at(*reading.question());
  CHECK(question.text ==
        "look\n[file a/b.txt]\n\n[end of file a/b.txt]\n[file c.png: attached]\n"
        "[file gone: not attached, it does not exist]");
  REQUIRE(question.parts.size() == 2);
  CHECK(question.parts[0].ref == "out_1");
  CHECK(question.text.substr(0, question.parts[0].offset) == "look\n[file a/b.txt]\n");
  CHECK(question.parts[1].name == "c.png");
  CHECK(size_of(question) == question.text.size() + 5 + kImageCountedBytes);
  fact.payload = ModelCompleted{.text = "seen"};
  reading.take(fact);
  context.workspace_refs[0].output_ref = "out_9";  // prepared again after a restart
  fact.payload = context;
  reading.take(fact);
  CHECK(reading.messages().at(*reading.question()) == question);
}

TEST_CASE("a long answer is sent from its output, and provider state stays with its answer") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1);
  reading.set_input({});
  Fact fact;
  fact.payload = OutputSpilled{.output_ref = "out_7", .size = 70'000};
  reading.take(fact);
  fact.payload = ModelCompleted{.preview = "beginning",
                                .output_ref = "out_7",
                                .provider = "p",
                                .model = "m",
                                .provider_state = Json{"[1]"}};
  reading.take(fact);
  const ports::Message answer = reading.messages().back();
  CHECK(answer.text.empty());
  REQUIRE(answer.parts.size() == 1);
  CHECK(answer.parts[0].ref == "out_7");
  CHECK(answer.parts[0].size == 70'000);
  REQUIRE(answer.state.has_value());
  fact.payload = ModelCompleted{.text = "a summary", .purpose = "compaction"};
  reading.take(fact);
  CHECK(reading.messages().back() == answer);
}

TEST_CASE("a result has the images that its call stored, and they count for the context") {
  Given given = with_calls();
  const auto stored = [](const char* ref, const char* type) {
    return OutputSpilled{.output_ref = ref, .size = 7, .media_type = type};
  };
  given.fact(tool_scope("1", "c"), ItemStarted{});
  given.fact(tool_scope("1", "c"), ToolStarted{.tool_name = "read_file"});
  given.fact(tool_scope("1", "c"), stored("out_3", "image/png"));
  given.fact(tool_scope("1", "c"), stored("out_4", "image/svg+xml"));
  given.fact(tool_scope("1", "c"), ToolResult{.preview = "an image", .output_ref = "out_3"});
  HistoryDesk desk{given};
  const ports::Message result = desk.window("1").messages.back();
  CHECK(result.text == "an image");
  CHECK(result.images == std::vector<ports::StoredImage>{{"out_3", "image/png", 7}});
  CHECK(size_of(result) == 8 + kImageCountedBytes);
}

TEST_CASE("a result that is all of its stored output does not point to it") {
  const std::string page = "[web content]\nhello\n[end: this is the complete text]\n";
  const auto result_with = [&](std::string text, std::string stored_text) {
    TurnReading reading(state::kSession, TurnId{"turn_1"}, 1);
    const auto take = [&](Payload payload) {
      Fact fact;
      fact.ids.tool_call_id = ToolCallId{"a"};
      fact.payload = std::move(payload);
      reading.take(fact);
    };
    take(ModelCompleted{.tool_calls = {call("a")}});
    take(OutputSpilled{.output_ref = "out_1",
                       .size = stored_text.size(),
                       .media_type = "text/plain",
                       .digest = "sha256:" + hex(bytes_of(sha256(stored_text)))});
    take(ToolResult{.preview = std::move(text), .output_ref = "out_1"});
    return reading.messages().back().text;
  };
  CHECK(result_with(page, page) == page);
  CHECK(result_with(page, page + "more").ends_with("reads all of it at output:out_1.]"));
  const std::string named = "[a document, stored as output:out_1. It is not text.]\n";
  CHECK(result_with(named, std::string(100, '\0')) == named);
}

TEST_CASE("the end of a background command does not change the result of its call") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1);
  const auto take = [&](Payload payload) {
    Fact fact;
    fact.ids.tool_call_id = ToolCallId{"a"};
    fact.payload = std::move(payload);
    reading.take(fact);
  };
  take(ModelCompleted{.tool_calls = {call("a")}});
  take(ToolResult{.preview = "[Running in the background as proc_1.]"});
  const auto told = reading.messages();
  take(ProcessCompleted{.exit_code = 3});
  CHECK(reading.messages() == told);
}

TEST_CASE("the model receives how a command ended and its output until then") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1);
  const auto take = [&](const char* id, Payload payload) {
    Fact fact;
    fact.ids.tool_call_id = ToolCallId{id};
    fact.payload = std::move(payload);
    reading.take(fact);
  };
  take("", ModelCompleted{.tool_calls = {call("a"), call("b"), call("c")}});
  take("a", ToolStarted{});
  take("a", ProcessCompleted{.signal = Json{"11"},
                             .output_refs = std::vector<std::string>{"out_1", "out_2"}});
  take("a", ToolResult{.preview = "half", .output_ref = "out_1", .is_error = true});
  take("b", ToolStarted{});
  take("b", ToolFailed{.error = {Category::timeout, "it ran longer than 9 ms", false},
                       .preview = "building",
                       .output_refs = std::vector<std::string>{"out_3"}});
  take("c", ToolStarted{});
  CHECK(told(reading.messages()) ==
        Lines{"user: ", "assistant:  a{} b{} c{}",
              "tool: Ended by signal 11 (SIGSEGV).\nhalf\n[This is part of the output. read_file "
              "reads all of it at output:out_1 "
              "and output:out_2.] for a (error)",
              "tool: The call failed (timeout): it ran longer than 9 ms\nOutput until then:\n"
              "building\n[This is part of the output. read_file reads all of it at output:out_3.] "
              "for b (error)",
              "tool: The call was interrupted. Whether it had any effect is unknown; check before "
              "you repeat it. for c (error)"});
}

TEST_CASE("what hooks add stands behind the results, and an output they replaced is the one told") {
  Given given = with_calls();
  HookCompleted hook{.point = HookPoint::post_tool_use, .hook_run_id = "hook_1"};
  hook.additional_context = std::vector<std::string>{"mind the gap"};
  hook.updated_tool_output = "cleaned";
  hook.block = true;
  hook.reason = "too loud";
  given.fact(HookScope{tool_scope("1", "a"), "hook_1"}, HookStarted{.hook_run_id = "hook_1"});
  given.fact(HookScope{tool_scope("1", "a"), "hook_1"}, hook);
  HistoryDesk desk{given};
  const Lines lines = told(so_far(desk.window("1")));
  REQUIRE(lines.size() == 6);
  CHECK(lines[5] == "user: [A hook rejected the result: too loud]");
  CHECK(lines[1] == "tool: cleaned for a");
  CHECK(lines[4] == "user: [Added by a hook: mind the gap]");
}

TEST_CASE("a later turn gets the calls of the earlier one and its last answer") {
  Given given = with_calls();
  given.requested("1").completed("1", "Done.").running("2");
  HistoryDesk desk{given};
  const ports::HistoryWindow window = desk.window("2");
  CHECK(told(earlier(window)).size() == 6);
  CHECK(told(earlier(window)).front() == "user: ask 1");
  CHECK(told(earlier(window)).back() == "assistant: Done.");
  CHECK(told(window.messages).back() == "user: ask 2");
  CHECK(so_far(window).empty());
}

TEST_CASE("a later turn gets one that failed or was interrupted, with what it had done") {
  Given given = with_calls();
  given.fact(state::turn_scope("1"),
             TurnFailed{.status = Status::cancelled, .reason = "interrupted"});
  given.running("2").fact(
      state::turn_scope("2"),
      TurnFailed{.reason = "failed", .error = Failure{Category::provider, "it broke", true}});
  given.running("3").asked("3").completed("3", "Third.").running("4");
  HistoryDesk desk{given};
  const ports::HistoryWindow window = desk.window("4");
  CHECK(told(earlier(window)) ==
        Lines{"user: ask 1", R"(assistant: Looking. a{"x":1} b{} c{})",
              "tool: out\n[This is part of the output. read_file reads all of it at output:out_1.] "
              "for a",
              "tool: The call failed (denied): no for b (error)",
              "tool: The call did not run: the turn ended first. for c (error)",
              "user: [This turn was interrupted here.]", "user: ask 2",
              "user: [This turn failed here: it broke]", "user: ask 3", "assistant: Third."});
  REQUIRE(window.loaded.has_value());
  CHECK(window.loaded->turns == 3);
}

TEST_CASE("a turn that was taken out of the queue is no history") {
  Given given;
  given.session().thread_started().running("1").asked("1").queued("2");
  given.fact(state::turn_scope("2"), TurnFailed{.status = Status::cancelled, .reason = "removed"});
  given.completed("1", "First.").running("3");
  HistoryDesk desk{given};
  CHECK(told(earlier(desk.window("3"))) == Lines{"user: ask 1", "assistant: First."});
}

TEST_CASE("earlier turns that do not fit are left out until half of the room is free") {
  Given given;
  given.session().thread_started();
  for (const char* turn : {"1", "2", "3", "4"})
    given.running(turn).asked(turn).completed(turn, "An answer.");  // 15 bytes with its question
  given.running("5");
  HistoryDesk desk{given};
  KeptConversations none{0};
  ports::HistoryQuery query = desk.query("5");
  query.fit_bytes = 65;
  CHECK(desk.window(none, query).turns_omitted == 0);
  query.fit_bytes = 60;
  const ports::HistoryWindow window = desk.window(none, query);
  CHECK(window.turns_omitted == 3);
  CHECK(told(earlier(window)) == Lines{"user: ask 4", "assistant: An answer."});
  query.fit_bytes.reset();
  query.omitted_through = window.omitted_through;  // as the next request has it
  CHECK(told(earlier(desk.window(none, query))).size() == 2);
}

TEST_CASE("facts that were added as they were made need not be read, or be stored yet") {
  Given given = with_calls();
  KeptConversations kept{1 << 20};
  for (const Fact& fact : given.log()) kept.add(fact);
  HistoryDesk stored{given};
  store::MemoryStore empty;
  const ports::HistoryQuery query = stored.query("1");
  const auto live = history_window(empty, query, kept);
  REQUIRE(live.has_value());
  CHECK(live->messages == stored.window("1").messages);
  CHECK(live->tools == stored.window("1").tools);
}

TEST_CASE("a request of the next turn starts with the last one of the turn before") {
  Given given = with_calls();
  KeptConversations kept{1 << 20};
  std::size_t added = 0;
  std::vector<ports::Message> before;
  const auto check = [&](const std::string& turn) {
    for (; added < given.log().size(); ++added) kept.add(given.log()[added]);
    const HistoryDesk desk{given};
    const auto now = desk.window(kept, desk.query(turn)).messages;
    CHECK(now == desk.window(turn).messages);
    REQUIRE(now.size() > before.size());
    CHECK(std::equal(before.begin(), before.end(), now.begin()));
    before = now;
  };
  check("1");
  given.requested("1").completed("1", "Done.").running("2").asked("2");
  check("2");
  given.queued("3").completed("2", "Yes.").next("3").asked("3");
  check("3");
  kept.discard(kSession);  // evicted: it is read from the log once, and extended from then on
  given.completed("3", "Third.").running("4").asked("4");
  check("4");
  given.completed("4", "Fourth.").running("5");
  check("5");
}

TEST_CASE("a conversation that was dropped while it was read is not put back") {
  Given given = with_calls();
  HistoryDesk desk{given};
  KeptConversations kept{1 << 20};
  KeptConversations::Found found = kept.find(kSession, state::kThread, 0);
  found.conversation.emplace(kSession);
  kept.discard(kSession);
  kept.keep(kSession, state::kThread, found, 100);
  CHECK_FALSE(kept.find(kSession, state::kThread, 0).conversation.has_value());
}

TEST_CASE("kept conversations have one limit, and the one used least recently is dropped") {
  KeptConversations kept{3 * KeptConversations::kEntryBytes + 100};
  const auto begin = [&](const char* thread) {
    Fact fact;
    fact.ids.session = kSession;
    fact.ids.thread_id = ThreadId{thread};
    fact.payload = ThreadStarted{};
    kept.add(fact);
  };
  for (const char* thread : {"a", "b", "c"}) begin(thread);
  CHECK(kept.find(kSession, ThreadId{"a"}, 0).live);
  begin("d");
  CHECK_FALSE(kept.find(kSession, ThreadId{"b"}, 0).live);
  CHECK(kept.bytes() <= 3 * KeptConversations::kEntryBytes + 100);
}

TEST_CASE("facts that are not stored yet are not made up") {
  const HistoryDesk desk{with_calls()};
  KeptConversations none{0};
  ports::HistoryQuery ahead = desk.query("1");
  ahead.up_to = 1'000;
  CHECK(history_window(desk.store, ahead, none).error().code == Code::unavailable);
  ports::HistoryQuery other = desk.query("1");
  other.turn = TurnId{"turn_other"};
  CHECK(history_window(desk.store, other, none).error().code == Code::not_found);
}

TEST_CASE("after a compaction the continuation replaces what it covers, also within a turn") {
  Given given;
  given.session().thread_started().running("1").asked("1").completed("1", "First.");
  given.running("2").asked("2");
  given.fact(state::model_scope("2"), ModelCompleted{.text = "Half.", .tool_calls = {call("a")}});
  given.fact(tool_scope("2", "a"), ToolStarted{.tool_name = "shell"});
  given.fact(tool_scope("2", "a"), ToolResult{.preview = "out"});
  const Sequence covered = given.view().sequence;
  given.fact(state::turn_scope("2"), CompactionStarted{.covers_through = covered, .pieces = 1});
  given.fact(state::model_scope("2"), ModelCompleted{.text = "sum", .purpose = "compaction"});
  given.fact(state::turn_scope("2"), OutputSpilled{.output_ref = "out_c", .size = 40});
  given.fact(state::turn_scope("2"),
             CompactionCompleted{.continuation_ref = "out_c", .covers_through = covered});
  given.requested("2");
  const auto check = [&](const Lines& rest) {
    KeptConversations kept{1 << 20};
    for (const Fact& fact : given.log()) kept.add(fact);
    const HistoryDesk desk{given};
    const std::string turn = given.thread().active->ids.turn.text().substr(5);
    const ports::HistoryWindow window = desk.window(turn);
    CHECK(window.messages == desk.window(kept, desk.query(turn)).messages);
    REQUIRE_FALSE(window.messages.empty());
    REQUIRE(window.messages.front().parts.size() == 1);
    CHECK(window.messages.front().parts[0].ref == "out_c");
    CHECK(window.messages.front().parts[0].size == 40);
    Lines lines = told(window.messages);
    lines.erase(lines.begin());
    CHECK(lines == rest);
  };
  check({});
  given.completed("2", "Second.").running("3");
  check({"assistant: Second.", "user: ask 3"});
}

TEST_CASE("a message after a restart follows what was already sent") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1);
  reading.set_input({{InputKind::text, "ask", {}}});
  Fact fact;
  ContextResolved context;
  fact.payload = context;
  reading.take(fact);
  context.message = "changed";
  fact.payload = context;
  reading.take(fact);
  CHECK(told(reading.messages()) == Lines{"user: ask", "user: changed"});
}

TEST_CASE("a catalogue that names an equal one offers the tools of that one") {
  Given given;
  given.session().thread_started().running("1");
  given.fact(state::turn_scope("1"),
             ToolCatalogResolved{std::vector{tool("early", "allowed"), tool("no", "denied")}});
  given.asked("1").completed("1", "First.").running("2");
  given.fact(state::turn_scope("2"), ToolCatalogResolved{.tools = {}, .same_as = "log:9"});
  given.asked("2");
  const ports::HistoryWindow window = HistoryDesk{given}.window("2");
  REQUIRE(window.tools.size() == 1);
  CHECK(window.tools[0].name == "early");
}

}  // namespace agentrt::conversation
