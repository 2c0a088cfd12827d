// sim/checks_test.cc: tests each invariant with facts that satisfy it and facts that violate it.
#include "sim/checks.h"

#include <doctest/doctest.h>

namespace agentrt::sim {
namespace {

using namespace schema;

const SessionId kSession{"s"};

Fact fact(Sequence sequence, Payload payload, const std::string& turn = "u1",
          const std::string& request = "") {
  Fact out{sequence, Timestamp{1'000}, {}, std::move(payload)};
  out.ids.session = kSession;
  out.ids.turn_id = TurnId{turn};
  out.ids.model_request_id = ModelRequestId{request};
  return out;
}

Fact submitted(Sequence sequence, const std::string& turn, const std::string& text) {
  return fact(sequence, TurnSubmitted{.input = {{InputKind::text, text, {}}}}, turn);
}

Log log_of(std::vector<std::pair<Sequence, std::int64_t>> places) {
  Log out;
  for (const auto& [sequence, ms] : places)
    out.push_back({.session = kSession,
                   .sequence = sequence,
                   .at = Timestamp{ms},
                   .type = "session.updated",
                   .payload = "{}"});
  return out;
}

const ToolCallId kCall{"call_1"};
const ProcessId kProcess{"proc_1"};
const Json kLs{R"({"command":"ls"})"}, kPwd{R"({"command":"pwd"})"};

// A fact with the ids of one call, its question and its process.
Fact of_call(Payload payload) {
  Fact out = fact(1, std::move(payload));
  out.ids.tool_call_id = kCall;
  out.ids.action_id = ActionId{"action_1"};
  out.ids.process_id = kProcess;
  return out;
}

std::string broken(const Checked& checked) { return checked ? checked->invariant : ""; }

// The violation that check_decisions() finds in these facts.
std::string found(const Facts& facts) { return broken(check_decisions(facts, {})); }

}  // namespace

TEST_CASE("sequences: gaps and time that goes back are found") {
  CHECK(broken(check_sequences(log_of({{1, 5}, {2, 5}, {3, 9}}))).empty());
  CHECK(broken(check_sequences(log_of({{1, 5}, {3, 5}}))) == invariant::kSequences);
  CHECK(broken(check_sequences(log_of({{1, 5}, {2, 4}}))) == invariant::kSequences);
}

TEST_CASE("acknowledged: a fact that is gone or has changed is found") {
  const Log log = log_of({{1, 5}, {2, 6}});
  CHECK_FALSE(check_acknowledged(log, {{kSession, 2, log[1], "x"}}));
  CHECK(broken(check_acknowledged(log, {{kSession, 3, log[1], "x"}})) == invariant::kAcknowledged);
  CHECK(broken(check_acknowledged(log, {{kSession, 1, log[1], "x"}})) == invariant::kAcknowledged);
}

TEST_CASE("marks: a command that left too many or too few is found") {
  const Facts facts = {submitted(1, "u1", "o1"), submitted(2, "u2", "o1")};
  const auto marks = [](std::uint64_t least, std::uint64_t most) {
    return std::map<std::string, Marks>{{"o1", {"x", "turn.submitted", least, most}}};
  };
  CHECK_FALSE(check_marks(facts, marks(1, 2)));
  CHECK(broken(check_marks(facts, marks(0, 1))) == invariant::kAcknowledged);
  CHECK(broken(check_marks({}, marks(1, 1))) == invariant::kAcknowledged);
  CHECK_FALSE(check_marks({}, marks(0, 1)));
}

TEST_CASE("lives: what begins or ends twice is found") {
  const Fact begun = submitted(1, "u1", "x");
  CHECK_FALSE(check_lives({begun, fact(2, TurnCompleted{})}));
  CHECK(broken(check_lives({begun, begun})) == invariant::kAcknowledged);
  CHECK(broken(check_lives({begun, fact(2, TurnCompleted{}), fact(3, TurnFailed{})})) ==
        invariant::kTurns);
  const Fact asked = fact(2, ModelRequested{}, "u1", "m1");
  const Fact answered = fact(3, ModelCompleted{}, "u1", "m1");
  CHECK_FALSE(check_lives({begun, asked, answered}));
  CHECK(broken(check_lives({begun, asked, asked})) == invariant::kEffects);
  CHECK(broken(check_lives({begun, asked, answered, answered})) == invariant::kEffects);
  CHECK(broken(check_lives({begun, answered})) == invariant::kEffects);
}

TEST_CASE("waits: a turn that runs at rest is found, one that is blocked is not") {
  state::Session view;
  view.id = kSession;
  state::Thread& thread = view.threads[ThreadId{"t"}];
  CHECK_FALSE(check_waits({}, view));
  thread.active.emplace();
  thread.status = Status::running;
  CHECK(broken(check_waits({}, view)) == invariant::kTurns);
  thread.status = Status::blocked;
  CHECK(broken(check_waits({}, view)) == invariant::kTurns);
  thread.reason = "restart";
  thread.resumable = true;
  CHECK_FALSE(check_waits({}, view));
  CHECK(broken(check_all_ended(view)) == invariant::kTurns);
  CHECK(broken(check_waits({fact(1, ModelRequested{}, "u1", "m1")}, view)) == invariant::kEffects);
}

TEST_CASE("waits: a turn that asks a person rests, and one whose question is gone does not") {
  state::Session view;
  state::Thread& thread = view.threads[ThreadId{"t"}];
  thread.active.emplace();
  thread.status = Status::waiting_permission;
  CHECK(broken(check_waits({}, view)) == invariant::kTurns);
  thread.active->action.emplace();
  CHECK_FALSE(check_waits({}, view));
}

TEST_CASE("hang-ups: a turn that is cancelled without a command is found") {
  const Facts cancelled = {fact(1, TaskCancelled{})};
  CHECK(broken(check_cancelled(cancelled, false)) == invariant::kHangups);
  CHECK_FALSE(check_cancelled(cancelled, true));
  CHECK_FALSE(check_cancelled({fact(1, TurnCompleted{})}, false));
}

TEST_CASE("keys: one that was pressed before its question could be read is found") {
  CHECK(broken(check_typed(900, 1'000)) == invariant::kTyped);
  CHECK(broken(check_typed(1'499, 1'000)) == invariant::kTyped);
  CHECK_FALSE(check_typed(1'500, 1'000));
}

TEST_CASE("leaving: an owner that leaves a turn, a question or a process behind is found") {
  state::Session view;
  state::Thread& thread = view.threads[ThreadId{"t"}];
  CHECK_FALSE(check_no_open_work(view));
  thread.active.emplace();
  for (const Status status : {Status::running, Status::waiting_permission}) {
    thread.status = status;
    CHECK(broken(check_no_open_work(view)) == invariant::kLeaving);
  }
  thread.status = Status::blocked;
  CHECK_FALSE(check_no_open_work(view));
  view.processes[kProcess] = {};
  CHECK(broken(check_no_open_work(view)) == invariant::kLeaving);
}

TEST_CASE("decisions: what runs without its yes, or against a hook, is found") {
  const Fact made = of_call(ModelCompleted{.tool_calls = {{kCall, "shell", kLs, {}}}});
  const Fact runs = of_call(ProcessStarted{.command = "ls", .executed = "'ls'"});
  const Fact as_shown = of_call(ProcessStarted{.command = "ls"});
  const Fact asked = of_call(PermissionRequested{.digest = "d"});
  const auto answered = [](Decision decision, const std::string& digest) {
    return of_call(PermissionResolved{.decision = decision, .digest = digest});
  };
  CHECK(found({made, runs}).empty());
  CHECK(found({made, as_shown}) == invariant::kApproved);
  CHECK(found({made, asked, as_shown}) == invariant::kApproved);
  CHECK(found({made, asked, answered(Decision::allow, "d"), as_shown}).empty());
  CHECK(found({made, asked, answered(Decision::allow, "d"), runs}) == invariant::kApproved);
  CHECK(found({made, asked, answered(Decision::allow, "e"), as_shown}) == invariant::kApproved);
  CHECK(found({made, asked, answered(Decision::deny, "d"), as_shown}) == invariant::kApproved);
  const Fact heard = of_call(HookStarted{.hook_run_id = "h"});
  const auto said = [](HookCompleted outcome) {
    outcome.hook_run_id = "h";
    return of_call(std::move(outcome));
  };
  CHECK(found({made, heard, said({}), runs}).empty());
  CHECK(found({made, heard, said({.block = true}), runs}) == invariant::kHooks);
  CHECK(found({made, heard, said({.continue_ = false}), runs}) == invariant::kHooks);
  CHECK(found({made, heard, said({.updated_input = kPwd}), runs}) == invariant::kApproved);
  CHECK(found({made, heard,
               of_call(HookFailed{.hook_run_id = "h", .on_failure = OnFailure::closed}), runs}) ==
        invariant::kHooks);
}

TEST_CASE("decisions: a hook heard twice or never to its end, a question answered twice") {
  const Fact heard = of_call(HookStarted{.hook_run_id = "h"});
  const Fact said = of_call(HookCompleted{.hook_run_id = "h"});
  CHECK(found({heard}) == invariant::kHooks);
  CHECK(found({heard, said, heard, said}) == invariant::kHooks);
  CHECK(found({said}) == invariant::kHooks);
  const Fact asked = of_call(ActionRequired{});
  const Fact answered = of_call(ActionResolved{});
  CHECK(found({asked, answered}).empty());
  CHECK(found({asked, asked}) == invariant::kDecisions);
  CHECK(found({answered}) == invariant::kDecisions);
  CHECK(found({asked, answered, answered}) == invariant::kDecisions);
}

TEST_CASE("decisions: what runs in another world than the approved one is found") {
  ActionRequired shown;
  shown.executes = std::vector<ExecutedFile>{{"/w/x", "1"}};
  const Facts facts = {of_call(ModelCompleted{.tool_calls = {{kCall, "shell", kLs, {}}}}),
                       of_call(shown),
                       of_call(ProcessStarted{.command = "ls", .executed = "'ls'"})};
  CHECK_FALSE(check_decisions(facts, {{kProcess, "1"}}));
  CHECK(broken(check_decisions(facts, {{kProcess, "2"}})) == invariant::kApproved);
}

TEST_CASE("outputs: an end that was recorded and lost, and output that is missing, are found") {
  const auto wrong = [](const Facts& facts, const RealProcess& real) {
    return broken(check_outputs(facts, {{kProcess, real}}));
  };
  const auto output = [](const char* text) {
    return of_call(ProcessOutput{.stream = OutputStream::stdout_, .text = text});
  };
  const Failure nobody_knows{Category::lost, "", false};
  const Fact lost = of_call(ProcessFailed{.error = nobody_knows, .duration_ms = 5});
  const Fact interrupted = of_call(ProcessFailed{.error = nobody_knows});
  const Fact completed = of_call(ProcessCompleted{.exit_code = 0});
  CHECK(wrong({lost}, {.recorded = true}) == invariant::kOutput);
  CHECK(wrong({lost}, {.recorded = false}).empty());
  CHECK(wrong({interrupted}, {.recorded = true}).empty());
  CHECK(wrong({output("a"), completed}, {true, true, "ab"}) == invariant::kOutput);
  CHECK(wrong({output("a"), lost}, {true, false, "ab"}) == invariant::kOutput);
  CHECK(wrong({output("ab"), output("b"), completed}, {true, true, "ab"}) == invariant::kOutput);
  CHECK(wrong({output("a"), output("b"), completed}, {true, true, "ab"}).empty());
  CHECK(wrong({output("a"), completed}, {false, true, "ab"}).empty());
  CHECK(wrong({output("a")}, {true, true, "ab"}).empty());
}

TEST_CASE("bounds: a queue or a session past its limit is found") {
  control::Settings settings;
  settings.queue_turns_max = 1;
  settings.threads_max = 1;
  state::Session view;
  view.threads[ThreadId{"t"}].queue.resize(1);
  CHECK_FALSE(check_bounds(view, settings));
  view.threads[ThreadId{"t"}].queue.resize(2);
  CHECK(broken(check_bounds(view, settings)) == invariant::kBounds);
  view.threads[ThreadId{"t"}].queue.clear();
  view.threads[ThreadId{"t2"}];
  CHECK(broken(check_bounds(view, settings)) == invariant::kBounds);
}

TEST_CASE("the validator is asked: a stream without its beginning is not passed over") {
  CHECK(broken(check_judged(log_of({{1, 5}, {3, 5}}))) == invariant::kJudged);
}

}  // namespace agentrt::sim
