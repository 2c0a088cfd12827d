// conversation/history/turn_messages_test.cc: tests the conversion of a turn's facts to messages.
#include "conversation/history/turn_messages.h"

#include <doctest/doctest.h>

#include "base/digest.h"
#include "conversation/history/history.h"
#include "state/index.h"
#include "state/testing/given.h"
#include "store/memory/memory_store.h"

namespace agentrt::conversation {

using namespace schema;
using state::Given;
using state::kSession;

namespace {

using Lines = std::vector<std::string>;

ToolScope tool_scope(const std::string& turn, const std::string& call) {
  return {state::turn_scope(turn), StepId{"step_" + call}, ToolCallId{call}};
}

RequestedCall call(const std::string& id, const std::string& args = "{}") {
  return {ToolCallId{id}, "shell", Json{args}, {}};
}

CatalogTool tool(const std::string& name, const std::string& policy) {
  return {.tool_name = name, .description = "d", .input_schema = Json{"{}"}, .policy = policy};
}

// A given log in its own store.
struct Desk {
  explicit Desk(const Given& given) {
    store::Append append;
    append.session = kSession;
    state::Session view;
    view.id = kSession;
    for (const Fact& fact : given.log()) {
      Draft draft{SessionScope{kSession}, SessionCreated{}};
      draft.ids = fact.ids;
      draft.payload = fact.payload;
      append.events.push_back(encode(draft, fact.sequence, fact.at, store.runtime()));
      fold(view, fact);
      for (state::ObjectRow& row : state::index(view, fact)) {
        std::erase_if(append.index,
                      [&](const auto& each) { return each.kind == row.kind && each.id == row.id; });
        append.index.push_back(
            {row.kind, row.id, row.parent, row.first, row.status, row.open, row.record});
      }
    }
    REQUIRE(store.commit(std::span(&append, 1)).front().has_value());
    messages = view.threads.at(state::kThread).messages;
  }
  ports::HistoryWindow window(const std::string& turn, std::optional<std::size_t> bytes_max = {},
                              Sequence up_to = 0) const {
    KeptHistory kept{limits.kept_bytes, limits.facts_max};
    return window(kept, turn, bytes_max, up_to);
  }
  ports::HistoryWindow window(KeptHistory& kept, const std::string& turn,
                              std::optional<std::size_t> bytes_max = {}, Sequence up_to = 0) const {
    auto found = history_window(
        store, limits,
        {kSession, state::kThread, state::turn_ids(turn).turn, bytes_max, up_to, {}, messages},
        kept);
    REQUIRE(found.has_value());
    return *std::move(found);
  }

  mutable store::MemoryStore store;
  HistoryLimits limits;
  std::vector<Sequence> messages;  // of the thread, as the view knows them
};

Lines told(const std::vector<ports::Message>& messages) {
  Lines out;
  for (const ports::Message& message : messages) {
    std::string line = std::string(name_of(message.role)) + ": " + message.text;
    for (const ports::MadeCall& made : message.calls) line += " " + made.id.text() + made.args.text;
    if (message.answers) line += " for " + message.answers.text();
    if (message.is_error) line += " (error)";
    out.push_back(line);
  }
  return out;
}

Given with_calls() {
  Given given;
  given.session().thread_started().running("1").asked("1");
  given.fact(state::turn_scope("1"),
             ToolCatalogResolved{{tool("shell", "allowed"), tool("other", "denied")}});
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
  Desk desk{with_calls()};
  const ports::HistoryWindow window = desk.window("1");
  CHECK(told(window.so_far) ==
        Lines{R"(assistant: Looking. a{"x":1} b{} c{})",
              "tool: out\n[This is part of the output. read_file reads all of it at output:out_1.] "
              "for a",
              "tool: The call failed (denied): no for b (error)",
              "tool: The call did not run: the turn ended first. for c (error)"});
  REQUIRE(window.tools.size() == 1);
  CHECK(window.tools[0].name == "shell");
  CHECK(window.input.size() == 1);
}

TEST_CASE("the files that a turn was given are known by their digests") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1, 1'000);
  Fact fact;
  fact.payload = ContextResolved{.workspace_refs = {{.ref = "file:a.txt", .digest = "sha256:a"}}};
  reading.take(fact);
  CHECK(reading.messages().empty());
  REQUIRE(reading.files().size() == 1);
  CHECK(reading.files()[0].digest == "sha256:a");
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
  Desk desk{given};
  const ports::Message result = desk.window("1").so_far.back();
  CHECK(result.text == "an image");
  CHECK(result.images == std::vector<ports::StoredImage>{{"out_3", "image/png", 7}});
  CHECK(size_of(result) == 8 + kImageCountedBytes);
  std::vector<ports::Message> messages{result};
  CHECK(shorten(messages, 1'000) == 1);
  CHECK(messages[0].images.empty());
}

TEST_CASE("a result that is all of its stored output does not point to it") {
  const std::string page = "[web content]\nhello\n[end: this is the complete text]\n";
  const auto result_with = [&](std::string text, std::string stored_text) {
    TurnReading reading(state::kSession, TurnId{"turn_1"}, 1, 1'000);
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
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1, 1'000);
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
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1, 1'000);
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
        Lines{"assistant:  a{} b{} c{}",
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
  given.fact(tool_scope("1", "a"), HookStarted{.hook_run_id = "hook_1"});
  given.fact(tool_scope("1", "a"), hook);
  Desk desk{given};
  const Lines lines = told(desk.window("1").so_far);
  REQUIRE(lines.size() == 6);
  CHECK(lines[5] == "user: [A hook rejected the result: too loud]");
  CHECK(lines[1] == "tool: cleaned for a");
  CHECK(lines[4] == "user: [Added by a hook: mind the gap]");
}

TEST_CASE("a later turn gets the calls of the earlier one and its last answer") {
  Given given = with_calls();
  given.requested("1").completed("1", "Done.").running("2");
  Desk desk{given};
  const ports::HistoryWindow window = desk.window("2");
  CHECK(told(window.messages).size() == 6);
  CHECK(told(window.messages).front() == "user: ask 1");
  CHECK(told(window.messages).back() == "assistant: Done.");
  CHECK(window.so_far.empty());
  CHECK(window.omitted.empty());
}

TEST_CASE("a later turn gets one that failed or was interrupted, with what it had done") {
  Given given = with_calls();
  given.fact(state::turn_scope("1"),
             TurnFailed{.status = Status::cancelled, .reason = "interrupted"});
  given.running("2").fact(
      state::turn_scope("2"),
      TurnFailed{.reason = "failed", .error = Failure{Category::provider, "it broke", true}});
  given.running("3").asked("3").completed("3", "Third.").running("4");
  Desk desk{given};
  const ports::HistoryWindow window = desk.window("4");
  CHECK(told(window.messages) ==
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
  Desk desk{given};
  CHECK(told(desk.window("3").messages) == Lines{"user: ask 1", "assistant: First."});
}

TEST_CASE("earlier turns that do not fit are left out whole, and that is said") {
  Given given;
  given.session().thread_started();
  for (const char* turn : {"1", "2"}) given.running(turn).asked(turn).completed(turn, "An answer.");
  given.running("3");
  Desk desk{given};
  CHECK(told(desk.window("3", 100).messages).size() == 4);
  const ports::HistoryWindow window = desk.window("3", 25);
  CHECK(told(window.messages) == Lines{"user: ask 2", "assistant: An answer."});
  REQUIRE(window.omitted.size() == 1);
  CHECK(window.omitted[0].reason == "turns before the newest 1 do not fit");
  desk.limits.turns_max = 1;
  CHECK(desk.window("3", 100).omitted[0].reason == "only the newest 1 turns are included");
}

TEST_CASE("earlier turns that were kept are what is read, also where there is less room") {
  Given given = with_calls();
  given.requested("1").completed("1", "Done.").running("2");
  Desk desk{given};
  KeptHistory kept{desk.limits.kept_bytes, desk.limits.facts_max};
  const auto read = desk.window("2");
  REQUIRE(read.messages.size() > 1);
  CHECK(desk.window(kept, "2").messages == read.messages);
  CHECK(desk.window(kept, "2").messages == read.messages);
  for (const std::size_t room : {10'000u, 100u, 40u, 10u, 1u, 0u}) {
    const auto found = desk.window(kept, "2", room), anew = desk.window("2", room);
    CHECK(found.messages == anew.messages);
    CHECK(found.omitted == anew.omitted);
    CHECK(found.loaded == anew.loaded);
  }
}

TEST_CASE("histories are kept for a bounded number of turns, and of a bounded size") {
  const auto id = [](std::size_t i) { return TurnId{"turn_" + std::to_string(i)}; };
  KeptHistory kept{1'000, 1'000};
  const auto keep = [&](std::size_t i, std::size_t bytes) {
    auto earlier = std::make_shared<EarlierTurns>();
    earlier->bytes = bytes;
    kept.keep(kSession, id(i),
              {OwnTurn{{}, TurnReading(kSession, id(i), 1, 1)}, false, std::move(earlier)});
  };
  const auto knows = [&](std::size_t i) { return kept.find(id(i)).own.has_value(); };
  for (std::size_t i = 0; i <= KeptHistory::kTurnsMax; ++i) keep(i, 0);
  CHECK_FALSE(knows(0));
  CHECK(knows(1));
  keep(1'000, 600);
  keep(1'001, 600);
  CHECK_FALSE(knows(1'000));
  CHECK(knows(1'001));
  for (int again = 0; again < 3; ++again) keep(1'001, 900);  // replaces its earlier entry
  CHECK(knows(1'001));
  keep(1'002, 1'001);
  CHECK_FALSE(knows(1'002));
  CHECK(knows(1'001));  // an entry that does not fit evicts no other
}

TEST_CASE("what was forgotten while a request was put together is not put back") {
  KeptHistory kept(1 << 20, 1'000);
  Fact submitted;
  submitted.sequence = 1;
  submitted.ids.session = kSession;
  submitted.ids.turn_id = TurnId{"turn_1"};
  submitted.payload = TurnSubmitted{};
  kept.add(submitted);
  KeptHistory::Found found = kept.find(TurnId{"turn_1"});
  REQUIRE(found.whole);
  kept.forget(kSession);
  kept.keep(kSession, TurnId{"turn_1"}, std::move(found));
  CHECK_FALSE(kept.find(TurnId{"turn_1"}).own);
}

TEST_CASE("facts that were added as they were made need not be read, or be stored yet") {
  const Given given = with_calls();
  const Desk desk{given}, before{Given{}.session().thread_started()};
  KeptHistory kept{1 << 20, 1'000};
  for (const Fact& fact : given.log()) {
    kept.add(fact);
    if (!kept.find(state::turn_ids("1").turn).own) continue;  // not started yet
    CAPTURE(fact.sequence);
    const auto added = before.window(kept, "1", {}, fact.sequence);
    const auto read = desk.window("1", {}, fact.sequence);
    CHECK(told(added.so_far) == told(read.so_far));
    CHECK(added.tools.size() == read.tools.size());
    CHECK(added.input == read.input);
  }
}

TEST_CASE("what was added and not stored is forgotten, and a turn that ended is too") {
  Given given = with_calls();
  KeptHistory kept{1 << 20, 1'000};
  const auto add_all = [&] {
    for (const Fact& fact : given.log()) kept.add(fact);
  };
  const TurnId turn = state::turn_ids("1").turn;
  add_all();
  kept.forget(SessionId{"another"});
  CHECK(kept.find(turn).whole);
  kept.forget(kSession);
  CHECK_FALSE(kept.find(turn).own.has_value());
  given.requested("1").completed("1", "Done.");
  add_all();
  CHECK_FALSE(kept.find(turn).own.has_value());
}

TEST_CASE("what a turn that is not stored says is not made up") {
  const Desk desk{Given{}.session().thread_started()};
  KeptHistory kept{1 << 20, 1'000};
  const ports::HistoryQuery query{kSession, state::kThread, state::turn_ids("1").turn, {}, 5, {}};
  CHECK(history_window(desk.store, desk.limits, query, kept).error().code == Code::not_found);
  const Desk half{Given{}.session().thread_started().running("1")};
  const ports::HistoryQuery ahead{kSession, state::kThread, state::turn_ids("1").turn, {}, 100, {}};
  CHECK(history_window(half.store, half.limits, ahead, kept).error().code == Code::unavailable);
  // The previous turn has ended in the view, but not in the stored log.
  Given given = with_calls();
  given.requested("1").queued("2");
  const Desk behind{given};
  ports::HistoryQuery next{kSession, state::kThread, state::turn_ids("2").turn, {}, 0, {}};
  CHECK(history_window(behind.store, behind.limits, next, kept).has_value());
  next.turn = state::turn_ids("2").turn;
  next.last_ended = state::turn_ids("1").turn;
  KeptHistory none{0, 1'000};
  CHECK(history_window(behind.store, behind.limits, next, none).error().code == Code::unavailable);
}

TEST_CASE("a turn that runs is read on, and is at each fact what it is when read at once") {
  Given given = with_calls();
  given.requested("1");
  const Desk desk{given};
  KeptHistory kept{desk.limits.kept_bytes, desk.limits.facts_max};
  const Sequence first = 3, last = given.view().sequence;
  for (Sequence up_to = first; up_to <= last; ++up_to) {
    const auto read_on = desk.window(kept, "1", {}, up_to), anew = desk.window("1", {}, up_to);
    CHECK(told(read_on.so_far) == told(anew.so_far));
    CHECK(read_on.tools.size() == anew.tools.size());
    CHECK(read_on.input == anew.input);
  }
  CHECK(told(desk.window(kept, "1").so_far) == told(desk.window("1").so_far));
}

TEST_CASE("what was read of a turn that runs is not read again") {
  KeptHistory kept{1 << 20, 1'000};
  CHECK(told(Desk{with_calls()}.window(kept, "1").so_far).size() == 4);
  Given other;  // of the same length; its turn has no messages
  other.session().thread_started().running("1").asked("1");
  while (other.view().sequence < with_calls().view().sequence) other.said("1", "x");
  const Desk desk{other};
  CHECK(desk.window("1").so_far.empty());
  CHECK(told(desk.window(kept, "1").so_far).size() == 4);
}

TEST_CASE("results of the turn itself are cut from the oldest on, never calls") {
  std::vector<ports::Message> messages(3);
  messages[0].role = ports::Role::assistant;
  messages[0].text = std::string(500, 'a');
  for (std::size_t i : {1, 2}) {
    messages[i].role = ports::Role::tool;
    messages[i].text = std::string(500, 'r');
  }
  CHECK(shorten(messages, 1'200) == 1);
  CHECK(messages[1].text.contains("was removed"));
  CHECK(messages[2].text == std::string(500, 'r'));
  CHECK(shorten(messages, 0) == 1);
  CHECK(messages[0].text == std::string(500, 'a'));
}

TEST_CASE("a turn among too many facts cannot be read, and an earlier one shows its answer alone") {
  Given given = with_calls();
  given.requested("1").completed("1", "Done.").running("2");
  Desk desk{given};
  desk.limits.facts_max = 3;
  const auto own = TurnReading(kSession, state::turn_ids("1").turn, 1, 0).read_on(desk.store, 0);
  REQUIRE_FALSE(own.has_value());
  CHECK(own.error().code == Code::limit_exceeded);
}

namespace {

// A turn that begins with this message of the runtime (empty: none), asks "q" and gets "a".
void add_turn(Given& given, const std::string& name, const std::string& message) {
  given.running(name);
  ContextResolved context{.cwd = "/w"};
  context.surroundings = Surroundings{.date = "day " + name};
  if (!message.empty()) context.message = message;
  given.fact(state::turn_scope(name), std::move(context));
  given.requested(name);
  if (name != "9") given.completed(name);
}

}  // namespace

TEST_CASE("every turn keeps the message of the runtime that it began with") {
  Given given;
  given.session().thread_started();
  add_turn(given, "1", "all");
  add_turn(given, "2", "");
  add_turn(given, "3", "changed");
  add_turn(given, "9", "changed again");
  const Desk desk{given};
  const ports::HistoryWindow window = desk.window("9");
  const Lines lines = told(window.messages);
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] == "user: all");
  CHECK(lines[5] == "user: changed");
  CHECK(told(window.before) == Lines{"user: changed again"});
  CHECK_FALSE(window.opened_with.has_value());
}

TEST_CASE("the message that begins a thread stays when its turn is no longer sent") {
  Given given;
  given.session().thread_started();
  add_turn(given, "1", "all");
  for (const char* name : {"2", "3", "4"}) add_turn(given, name, "");
  add_turn(given, "9", "");
  Desk desk{given};
  desk.limits.turns_max = 2;
  const ports::HistoryWindow window = desk.window("9");
  CHECK(told(window.messages).size() == 5);
  CHECK(told(window.messages)[0] == "user: all");
  REQUIRE(window.opened_with.has_value());
  CHECK(window.opened_with->date == "day 1");
}

TEST_CASE("a message after a restart follows what was already sent") {
  TurnReading reading(state::kSession, TurnId{"turn_1"}, 1, 1'000);
  Fact fact;
  ContextResolved context;
  fact.payload = context;
  reading.take(fact);
  context.message = "changed";
  fact.payload = context;
  reading.take(fact);
  CHECK(reading.before().empty());
  CHECK(told(reading.messages()) == Lines{"user: changed"});
}

TEST_CASE("tools that become known during a request are offered with the next one") {
  Given given;
  given.session().thread_started().running("1");
  given.fact(state::turn_scope("1"), ToolCatalogResolved{{tool("early", "allowed")}});
  given.asked("1");
  given.fact(state::turn_scope("1"),
             ToolCatalogResolved{{tool("early", "allowed"), tool("late", "allowed")}});
  CHECK(Desk{given}.window("1").tools.size() == 1);
  given.fact(state::model_scope("1"), ModelCompleted{.tool_calls = {call("a")}});
  given.requested("1");
  CHECK(Desk{given}.window("1").tools.size() == 2);
}

}  // namespace agentrt::conversation
