// cli/views/turn_view_test.cc: rendering of a turn, event by event.
#include "cli/views/turn_view.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using namespace schema;

const TurnId kTurn{"t1"};
const ThreadId kThread{"main"};

template <class P>
Envelope event_of(const P& payload, const TurnId& turn = kTurn) {
  Envelope event;
  event.type = P::kType;
  event.sequence = 1;
  event.session_id = SessionId{"s1"};
  event.thread_id = kThread;
  event.turn_id = turn;
  event.model_request_id = ModelRequestId{"m1"};
  event.tool_call_id = ToolCallId{"c1"};
  event.payload.text = to_json(payload);
  return event;
}

TurnView shared_view(Colour colour = Colour::off) {
  return TurnView(kTurn, kThread, {Layout::together, colour, colour, true, 40});
}
TurnView piped_view() { return TurnView(kTurn, kThread, {}); }

std::string answer_of(const TurnText& text) { return text.of(To::answer); }
std::string notes_of(const TurnText& text) { return text.of(To::notes); }

// The text of both streams, as on one screen.
std::string screen_of(const TurnText& text) {
  std::string out;
  for (const TurnText::Piece& piece : text.pieces) out += piece.text;
  return out;
}

// The standard output of a complete message that the model streamed.
std::string said_in_pipe(TurnView& view, const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += answer_of(view.show(event_of(ModelDelta{piece})));
  return out + answer_of(view.show(event_of(ModelCompleted{})));
}
std::string said_in_pipe(const std::string& text) {
  TurnView view = piped_view();
  return said_in_pipe(view, {text});
}

ModelCompleted calling(std::string name, std::string args) {
  ModelCompleted completed;
  completed.tool_calls.push_back({ToolCallId{"c1"}, std::move(name), Json{std::move(args)}, {}});
  return completed;
}

ToolResult result_of(std::string preview, bool is_error = false) {
  ToolResult result;
  result.preview = std::move(preview);
  result.is_error = is_error;
  result.duration_ms = 1'200;
  return result;
}

TEST_CASE("ignored settings of files are reported once, unless they were trusted meanwhile") {
  PolicyChanged changed{.change = "resolved"};
  changed.policy.emplace().ignored = {"/w/x: ignored: hooks (the file is not trusted)"};
  TurnView view = piped_view();
  CHECK(notes_of(view.show(event_of(changed, TurnId{}))) == "");
  CHECK(notes_of(view.show(event_of(ModelRequested{.provider = "p", .model_name = "m"}))) ==
        "· /w/x: ignored: hooks (the file is not trusted); agentrt trust accepts its current "
        "version\n· model m (p)\n");
  CHECK(notes_of(view.show(event_of(ModelRequested{.provider = "p", .model_name = "m"}))) == "");
  (void)view.show(event_of(changed, TurnId{}));
  changed.policy->ignored.clear();
  (void)view.show(event_of(changed, TurnId{}));
  CHECK(notes_of(view.show(event_of(ModelRequested{.provider = "p", .model_name = "m"}))) == "");
}

TEST_CASE("text streams as it comes and the summary stands on a line of its own") {
  TurnView view = shared_view();
  CHECK(screen_of(view.show(event_of(ModelDelta{"Hel"}))) == "Hel");
  CHECK(screen_of(view.show(event_of(ModelDelta{"lo"}))) == "lo");
  TurnCompleted completed;
  completed.usage = {3'410, 512, {}, {}};
  completed.duration_ms = 1'500;
  const TurnText end = view.show(event_of(completed));
  CHECK(answer_of(end) == "\n");
  CHECK(notes_of(end) == "\n· 1.5 s · 3,410 in · 512 out · session\n  s1\n");
  CHECK(view.end().ending == Ending::completed);
  CHECK(!view.settled());
  view.show(event_of(TaskCompleted{}));
  CHECK(view.settled());
}

TEST_CASE("an answer that the model's limit cut off is marked, with what to do") {
  TurnView view = shared_view();
  view.show(event_of(ModelRequested{.model_name = "main"}));
  view.show(event_of(ModelDelta{"and th"}));
  TurnCompleted completed;
  completed.stop_reason = StopReason::max_tokens;
  CHECK(notes_of(view.show(event_of(completed)))
            .contains("· the answer is cut off at the output\n  limit; raise max_output_tokens in\n"
                      "  [models.main], or ask the model to\n  continue\n"));
  CHECK(!notes_of(view.show(event_of(TurnCompleted{}))).contains("cut off"));
}

TEST_CASE("the summary counts tools") {
  TurnView view = piped_view();
  view.show(event_of(calling("shell", R"({"command":"true"})")));
  view.show(event_of(result_of("")));
  TurnCompleted completed;
  completed.usage = {1'234'567, 1, {}, {}};
  CHECK(notes_of(view.show(event_of(completed))) ==
        "· 0 ms · 1,234,567 in · 1 out · 1 tool · session s1\n");
}

TEST_CASE("an answer that was not streamed is printed when it is complete") {
  TurnView view = piped_view();
  ModelCompleted completed;
  completed.text = "done";
  CHECK(answer_of(view.show(event_of(completed))) == "done\n");
  TurnView streamed = shared_view();
  streamed.show(event_of(ModelDelta{"done"}));
  CHECK(answer_of(streamed.show(event_of(completed))) == "\n");
}

TEST_CASE("in a pipe the text of a request comes once it is complete, and never when it failed") {
  TurnView view = piped_view();
  CHECK(view.show(event_of(ModelDelta{"Now it wo"})) == TurnText{});
  ModelFailed failed;
  failed.error = {Category::timeout, "it stopped", true};
  failed.retry = ModelRetry{1, 50, Timestamp{0}};
  CHECK(answer_of(view.show(event_of(failed))).empty());
  CHECK(said_in_pipe(view, {"Now it ", "works."}) == "Now it works.\n");
  view.show(event_of(ModelDelta{"half"}));
  CHECK(
      answer_of(view.show(event_of(TurnFailed{Status::cancelled, "interrupted", {}, 1}))).empty());
}

TEST_CASE("an answer is Markdown at a terminal with colour, and as it was written anywhere else") {
  CHECK(answer_of(shared_view(Colour::on).show(event_of(ModelDelta{"**b** x\n"}))) ==
        "\x1b[1mb\x1b[0m x\n");
  CHECK(answer_of(shared_view().show(event_of(ModelDelta{"**b** x\n"}))) == "**b** x\n");
  CHECK(said_in_pipe("**b** x\n") == "**b** x\n");
}

TEST_CASE("blank lines around an answer are left out at a terminal, and kept in a pipe") {
  TurnView view = shared_view();
  CHECK(screen_of(view.show(event_of(ModelDelta{"\n\na\n\n\nb\n\n"}))) == "a\n\n\nb\n");
  CHECK(said_in_pipe("\n\na\n\n") == "\n\na\n\n");
}

TEST_CASE("a note does not continue a line of the answer on a shared screen") {
  TurnView view = shared_view();
  view.show(event_of(ModelDelta{"half"}));
  CHECK(screen_of(view.show(event_of(RuntimeWarning{"w", "careful"}))) == "\n\n· careful\n");
  TurnView piped = piped_view();
  piped.show(event_of(ModelDelta{"half"}));
  CHECK(screen_of(piped.show(event_of(RuntimeWarning{"w", "careful"}))) == "· careful\n");
}

TEST_CASE("reasoning stays out of the answer in a pipe and on its own lines at a terminal") {
  TurnView piped = piped_view();
  CHECK(notes_of(piped.show(event_of(ReasoningDelta{"hmm"}))) == "hmm");
  CHECK(piped.show(event_of(ModelDelta{"yes"})).pieces ==
        std::vector<TurnText::Piece>{{To::notes, "\n"}});
  CHECK(answer_of(piped.show(event_of(ModelCompleted{}))) == "yes\n");
  TurnView view = shared_view();
  CHECK(screen_of(view.show(event_of(ReasoningDelta{"hmm\nso"}))) == "hmm so");
  CHECK(screen_of(view.show(event_of(ModelDelta{"yes"}))) == "\n\nyes");
}

TEST_CASE("reasoning is short and dim at a terminal") {
  TurnView view = shared_view(Colour::on);
  std::string shown;
  for (int i = 0; i < 1'000; ++i) shown += screen_of(view.show(event_of(ReasoningDelta{"word "})));
  shown += screen_of(view.show(event_of(ModelCompleted{})));
  CHECK(shown.contains("\x1b[2mword\x1b[0m"));
  CHECK(shown.ends_with("…\x1b[0m\n"));
  CHECK(static_cast<std::size_t>(std::ranges::count(shown, 'w')) <= Page::kReasoningBytesMax / 5);
}

TEST_CASE("model text cannot steer the terminal, and is untouched in a pipe") {
  CHECK(answer_of(shared_view().show(event_of(ModelDelta{"\x1b[2Jx"}))) == "\\x1b[2Jx");
  CHECK(said_in_pipe("\x1b[2Jx") == "\x1b[2Jx\n");
}

TEST_CASE("steps are shown in one line each") {
  TurnView view = shared_view();
  TurnSubmitted submitted;
  submitted.status = Status::queued;
  submitted.position = 2;
  CHECK(notes_of(view.show(event_of(submitted))) == "· queued, position 2\n");
  CHECK(notes_of(view.show(event_of(QueueChanged{QueueChange::started, kTurn, 0, 0}))) ==
        "· started from the queue\n");
  ModelRequested requested;
  requested.model_name = "main";
  requested.provider = "script";
  requested.model = "canned-1";
  CHECK(notes_of(view.show(event_of(requested))) == "· model main: canned-1 (script)\n");
  CHECK(notes_of(view.show(event_of(requested))).empty());
  requested.model_name = "script:/tmp/play.jsonl";
  requested.model = "play.jsonl";
  CHECK(notes_of(piped_view().show(event_of(requested))) ==
        "· model script:/tmp/play.jsonl (script)\n");
  ModelFailed failed;
  failed.error = {Category::rate_limited, "too many requests", true};
  failed.retry = ModelRetry{1, 50, Timestamp{0}};
  CHECK(notes_of(view.show(event_of(failed))) ==
        "· the model request failed (too many\n  requests); retrying in 50 ms\n");
}

TEST_CASE("a call of a tool is one line with its time and outcome") {
  TurnView view = shared_view();
  view.show(event_of(calling("shell", R"({"command":"npm\n test"})")));
  CHECK(screen_of(view.show(event_of(result_of("ok\n")))) == "✓ $ npm test · 1.2 s\n");
  view.show(event_of(calling("shell", R"({"command":"make"})")));
  view.show(event_of(ProcessCompleted{.exit_code = 2}));
  CHECK(screen_of(view.show(event_of(result_of("1\n2\n3\n4\n\n5\n6\n7\x1b[2J\n", true)))) ==
        "✗ $ make · exit code 2 · 1.2 s\n  … 2 earlier lines\n  3\n  4\n  5\n  6\n  7\\x1b[2J\n");
  view.show(event_of(calling("shell", R"({"command":"make"})")));
  CHECK(screen_of(view.show(event_of(result_of("[stderr]\n1\n2\n3\n4\n5\n6\n", true)))) ==
        "✗ $ make · failed · 1.2 s\n  1\n  2\n  3\n  4\n  5\n  6\n");
  view.show(event_of(calling("shell", R"({"command":"rm -rf /"})")));
  ToolFailed refused;
  refused.error = {Category::denied, "a rule denies it", false};
  CHECK(screen_of(view.show(event_of(refused))) == "⊘ $ rm -rf / · not run\n  a rule denies it\n");
}

TEST_CASE("a call that failed was carried out, or it was not, as its facts say") {
  TurnView view = shared_view();
  const auto line_of = [&](const char* tool, auto... facts) {
    view.show(event_of(calling(tool, R"({"path":"a","command":"a"})")));
    (view.show(event_of(facts)), ...);
    return screen_of(
        view.show(event_of(ToolFailed{.error = {Category::not_found, "no such file", false}})));
  };
  const auto started = [](const char* tool, const char* policy) {
    return ToolStarted{.tool_name = tool, .policy = Json{policy}};
  };
  const auto denied = PermissionEvaluated{.decision = Decision::deny};
  const auto not_run = [](const std::string& line) { return line.contains("· not run"); };
  CHECK(line_of("read_file", started("read_file", "\"allowed\"")) ==
        "✗ read a · failed · 0 ms\n  no such file\n");
  CHECK(not_run(line_of("read_file", started("read_file", "\"denied\""))));
  CHECK(not_run(line_of("read_file", started("read_file", "\"not_evaluated\""))));
  CHECK(not_run(line_of("read_file")));
  CHECK(not_run(line_of("shell", started("shell", "\"allowed\""))));
  CHECK_FALSE(not_run(line_of("shell", started("shell", "\"allowed\""), ProcessStarted{})));
  CHECK(not_run(line_of("shell", started("shell", "\"allowed\""), ProcessStarted{},
                        ProcessFailed{.never_ran = true})));
  CHECK(not_run(line_of("write_file", started("write_file", "\"approved\""), denied)));
}

TEST_CASE("the line of a call fits the screen, and is whole in a pipe") {
  const std::string command(100, 'x');
  const auto line_in = [&](TurnView view) {
    view.show(event_of(calling("shell", R"({"command":")" + command + R"("})")));
    return screen_of(view.show(event_of(result_of(""))));
  };
  CHECK(width_of(line_in(shared_view())) == 40);
  CHECK(line_in(shared_view()).ends_with("… · 1.2 s\n"));
  CHECK(line_in(piped_view()) == "✓ $ " + command + " · 1.2 s\n");
}

TEST_CASE("a running call is shown with its elapsed time until it ends") {
  TurnView view = shared_view();
  CHECK(!view.doing());
  Envelope requested = event_of(ModelRequested{.model_name = "main"});
  requested.timestamp = Timestamp{5'000};
  view.show(requested);
  CHECK(view.doing()->what == "waiting for main");
  CHECK(view.doing()->since == Timestamp{5'000});
  view.show(event_of(calling("shell", R"({"command":"sleep 9"})")));
  Envelope started = event_of(ToolStarted{.tool_name = "shell"});
  started.timestamp = Timestamp{7'000};
  view.show(started);
  CHECK(view.doing()->what == "$ sleep 9");
  CHECK(view.doing()->since == Timestamp{7'000});
  view.show(event_of(result_of("")));
  CHECK(view.doing()->what != "$ sleep 9");
  view.show(event_of(TurnCompleted{}));
  CHECK(!view.doing());
}

TEST_CASE("a changed file is shown with its line counts, and its diff is requested once") {
  TurnView view = shared_view();
  view.show(event_of(calling("edit_file", R"({"path":"a.cc","oldText":"x","newText":"y"})")));
  ToolProgress progress;
  progress.change = FileChange{.path = "/w/a.cc",
                               .kind = FileChangeKind::update,
                               .after = "sha256:1",
                               .lines_added = 3,
                               .lines_removed = 1,
                               .diff_ref = "out_1"};
  view.show(event_of(progress));
  CHECK(!view.take_diff());
  CHECK(screen_of(view.show(event_of(result_of("ok")))) == "✓ edit a.cc +3 -1 · 1.2 s\n");
  CHECK(view.take_diff() == "out_1");
  CHECK(!view.take_diff());
  CHECK(screen_of(view.show_diff("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n")) ==
        "  @@ -1 +1 @@\n  -x\n  +y\n");
}

TEST_CASE("a plan is a list of boxes") {
  TurnView view = shared_view();
  view.show(event_of(calling("update_plan", R"({"plan":[{"step":"a","status":"completed"},)"
                                            R"({"step":"b","status":"in_progress"},)"
                                            R"({"step":"c","status":"pending"}]})")));
  CHECK(screen_of(view.show(event_of(result_of("ok")))) == "✓ plan · 1.2 s\n  ☑ a\n  ▸ b\n  ☐ c\n");
}

TEST_CASE("a server whose tools are missing is named") {
  ToolCatalogResolved catalog;
  catalog.missing = std::vector<MissingServer>{{"files", "it does not start"}};
  CHECK(notes_of(shared_view().show(event_of(catalog))) ==
        "· MCP server files: it does not start\n");
}

TEST_CASE("a question of a server comes with its form") {
  ActionRequired required;
  required.action_type = kElicitationAction;
  required.schema = Json{"{}"};
  required.server = "files";
  required.url = "https://a.b";
  TurnView view = shared_view();
  view.show(event_of(required));
  REQUIRE(view.action());
  CHECK(view.action()->schema == required.schema);
  CHECK(view.action()->server == "files");
  CHECK(view.action()->url == "https://a.b");
}

TEST_CASE("files that could not be read for the turn are reported") {
  ContextResolved context;
  context.instruction_refs.push_back({.ref = "file:/w/AGENTS.md"});
  context.missing.push_back({.ref = "file:/w/x", .reason = "it is a folder"});
  CHECK(notes_of(shared_view().show(event_of(context))) ==
        "· instructions file:/w/AGENTS.md\n· not used: file:/w/x: it is a folder\n");
}

TEST_CASE("a failed turn and a cancelled one are told apart") {
  TurnView failed = shared_view();
  failed.show(
      event_of(TurnFailed{Status::failed, "r", Failure{Category::provider, "broke", false}, 1}));
  CHECK(failed.end().ending == Ending::failed);
  CHECK(failed.end().reason == "broke");
  TurnView cancelled = shared_view();
  cancelled.show(event_of(TurnFailed{Status::cancelled, "interrupted", {}, 1}));
  CHECK(cancelled.end().ending == Ending::cancelled);
  CHECK(cancelled.end().reason == "interrupted");
}

TEST_CASE("a turn is settled with any consequence for its task, and only after its own end") {
  const auto settled = [](auto consequence, bool ended) {
    TurnView view = shared_view();
    if (ended) view.show(event_of(TurnFailed{Status::timed_out, "too slow", {}, 1}));
    view.show(event_of(consequence));
    return view.settled();
  };
  CHECK(settled(TaskTimedOut{.reason = "deadline"}, true));
  CHECK(settled(TaskLost{.reason = "gone"}, true));
  CHECK(settled(TaskRetrying{.reason = "again"}, true));
  CHECK(settled(TaskBlocked{.reason = "acceptance"}, true));
  CHECK_FALSE(settled(TaskBlocked{.reason = "restart"}, false));
}

TEST_CASE("a blocked turn says why, and a resumed one is open again") {
  TurnView view = shared_view();
  RoutingNotPossible routing;
  routing.decision_reason = "no model is configured";
  view.show(event_of(routing));
  view.show(event_of(RunStatus{Status::blocked, "no_model", "No model", "d", true}));
  CHECK(view.end().ending == Ending::blocked);
  CHECK(view.end().reason == "no model is configured");
  CHECK(view.end().needs_person);
  CHECK(!view.settled());
  view.show(event_of(RunStatus{Status::preparing, "prepare", "Resuming", {}, {}}));
  CHECK(view.end().ending == Ending::open);
}

TEST_CASE("events of other turns say nothing, unless the thread stops before ours") {
  TurnView view = shared_view();
  CHECK(view.show(event_of(ModelDelta{"x"}, TurnId{"t0"})) == TurnText{});
  CHECK(view.show(event_of(TurnCompleted{}, TurnId{"t0"})) == TurnText{});
  CHECK(view.end().ending == Ending::open);
  ThreadUpdated updated;
  updated.status = Status::blocked;
  updated.reason = "restart";
  view.show(event_of(updated, TurnId{"t0"}));
  CHECK(view.end().ending == Ending::blocked);
}

TEST_CASE("what concerns a turn is its own events and the making of its session and thread") {
  const TurnView view = shared_view();
  CHECK(view.concerns(event_of(ModelDelta{"x"})));
  CHECK(!view.concerns(event_of(ModelDelta{"x"}, TurnId{"t0"})));
  CHECK(view.concerns(event_of(SessionCreated{}, TurnId{})));
  CHECK(view.concerns(event_of(ThreadStarted{}, TurnId{})));
  CHECK(!view.concerns(event_of(SnapshotUpdated{}, TurnId{})));
}

TEST_CASE("an event of a type that is not known is passed over") {
  TurnView view = shared_view();
  Envelope event = event_of(ModelDelta{"x"});
  event.type = "future.thing";
  CHECK(view.show(event) == TurnText{});
}

TEST_CASE("a call that the model is still writing is what the turn is doing") {
  TurnView view = shared_view();
  (void)view.show(event_of(ModelDelta{"I write"}));
  CHECK(view.line_open());
  (void)view.show(event_of(ItemStarted{.kind = ItemKind::file_change, .tool_name = "write_file"}));
  CHECK_FALSE(view.line_open());
  CHECK(view.doing()->what == "write · 0 bytes");
  ItemUpdated updated{.kind = ItemKind::file_change, .text_bytes = 4'100};
  updated.preview = R"({"path":"a.cc","content":")";
  (void)view.show(event_of(updated));
  CHECK(view.doing()->what == "write a.cc · 4 KiB");
  (void)view.show(event_of(calling("write_file", "{}")));
  CHECK(view.doing()->what == "preparing");
}

}  // namespace
}  // namespace agentrt::cli
