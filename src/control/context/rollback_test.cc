// control/context/rollback_test.cc: tests when a thread may be rolled back, what that records, and
// how files are restored.
#include <doctest/doctest.h>

#include "control/testing/given.h"
#include "state/index.h"
#include "state/read_models.h"
#include "tools/restore_file.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::kSession;
using state::kThread;

namespace {

const ThreadId kOther{"thread_other"};

// Turns 1, 2 and 3 have ended.
Given three_turns() {
  Given given;
  given.session().thread_started();
  for (const char* name : {"1", "2", "3"}) given.running(name).asked(name).completed(name);
  return given;
}

// The fact that ended the turn.
Sequence end_of(const Given& given, const std::string& name) {
  for (const Fact& fact : given.log())
    if (fact.ids.turn_id == state::turn_ids(name).turn &&
        std::holds_alternative<TurnCompleted>(fact.payload))
      return fact.sequence;
  return 0;
}

RollbackThread command(const std::string& turn, std::optional<RestoreMode> restore = {}) {
  RollbackThread out;
  out.session_id = kSession;
  out.thread_id = kThread;
  out.turn_id = state::turn_ids(turn).turn;
  out.restore = restore;
  return out;
}

// What the lane reads for a rollback to turn 1, which was followed by `later`.
Inputs inputs_with(const Given& given, const std::vector<std::string>& later) {
  Inputs inputs = inputs_at(given.now());
  inputs.named.ended = LaneReads::EndedTurn{.thread = kThread, .end = end_of(given, "1")};
  RemovedPart& part = inputs.named.removed.emplace();
  part.target.turn_id = TurnId{"turn_1"};
  part.target.thread_id = kThread;
  part.target.status = Status::completed;
  part.target.output_ref = "log:5";
  part.target.last_sequence = end_of(given, "1");
  part.options.model = "first";
  for (const std::string& name : later) part.turns.push_back(state::turn_ids(name).turn);
  part.turn_count = later.size();
  return inputs;
}

Outcome rolled_back(const Given& given, RollbackThread how = command("1")) {
  return when(given.view(), how, inputs_with(given, {"2", "3"}));
}

}  // namespace

TEST_CASE("a rollback is two facts that name the range, and the target is the last turn again") {
  const Given given = three_turns();
  const Needs needs = needs_of(given.view(), Command{command("1")});
  CHECK(needs.ended == TurnId{"turn_1"});
  REQUIRE(needs.removal.has_value());
  CHECK(needs.removal->workspace == "/w");
  const Outcome done = rolled_back(given);
  CHECK(done.shape() == "history.rollback.started history.rollback.completed");
  const auto reply = done.reply<RollbackThreadReply>();
  CHECK(reply.removed_turns == std::vector{TurnId{"turn_2"}, TurnId{"turn_3"}});
  CHECK(reply.removed_turn_count == 2);
  CHECK(reply.sequence == done.after.sequence);
  CHECK_FALSE(reply.restore_turn_id.has_value());
  const auto& fact = done.payload_of<RollbackCompleted>();
  CHECK(fact.baseline_sequence == end_of(given, "1"));
  CHECK(fact.cancelled_action_ids == std::vector<ActionId>{});
  const state::Thread& thread = done.thread();
  CHECK(thread.last->ids.turn == TurnId{"turn_1"});
  CHECK(thread.last->options.model == "first");
  CHECK(thread.last->answer == 5);
  CHECK(thread.rollback ==
        state::Rollback{done.after.sequence, end_of(given, "1"), TurnId{"turn_1"}});
  CHECK(thread.prefix_broken == "rolled_back");
  const auto rows = state::index(done.after, done.facts.back());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].kind == kRollbackKind);
  CHECK(rows[0].parent == kThread.text());
  CHECK(rows[1].kind == "session");
}

TEST_CASE("the compaction before the removed part applies again") {
  Given given;
  given.session().thread_started().running("0").fact(
      state::turn_scope("0"),
      CompactionCompleted{.continuation_ref = "out_a", .covers_through = 2});
  given.completed("0").running("1").asked("1").completed("1");
  given.running("2").fact(state::turn_scope("2"),
                          CompactionCompleted{.continuation_ref = "out_b", .covers_through = 9});
  given.asked("2").completed("2");
  CHECK(given.thread().boundaries.size() == 2);
  const Outcome done = rolled_back(given);
  REQUIRE(done.thread().boundaries.size() == 1);
  CHECK(done.thread().boundaries.front().continuation_ref == "out_a");
  CHECK(state::thread_read(done.after, done.thread()).context_boundary->continuation_ref ==
        "out_a");
}

TEST_CASE("a preview, and a rollback that removes nothing, append nothing") {
  const Given given = three_turns();
  const Outcome preview = rolled_back(given, command("1", RestoreMode::preview));
  CHECK(preview.shape() == "unchanged");
  CHECK(preview.reply<RollbackThreadReply>().removed_turn_count == 2);
  CHECK(preview.reply<RollbackThreadReply>().sequence == given.view().sequence);
  CHECK(when(given.view(), command("1"), inputs_with(given, {})).shape() == "unchanged");
}

TEST_CASE("open work in the removed part is refused by name, or cancelled first") {
  Given given = three_turns();
  given.running("4").asked("4").queued("5");
  const Outcome refused = rolled_back(given);
  CHECK(refused.shape() == "refused: conflict");
  CHECK(refused.refusal().message.contains("turn turn_4, turn_5"));
  CHECK(refused.refusal().details ==
        R"({"status":"preparing","turnIds":["turn_4","turn_5"],"subagentIds":[],"jobIds":[]})");
  RollbackThread interrupts = command("1");
  interrupts.interrupt = true;
  const Outcome done = rolled_back(given, interrupts);
  CHECK(done.all_of<TurnFailed>().size() == 2);
  CHECK(
      done.shape().ends_with("queue.changed history.rollback.started history.rollback.completed"));
  const auto reply = done.reply<RollbackThreadReply>();
  CHECK(reply.removed_turn_count == 4);
  CHECK(reply.removed_turns.back() == TurnId{"turn_5"});
  CHECK_FALSE(done.thread().active.has_value());
  CHECK(done.thread().queue.empty());
  CHECK(done.thread().last->ids.turn == TurnId{"turn_1"});
}

TEST_CASE("actions of cancelled turns are listed") {
  Given given = three_turns();
  given.running("4").fact(ActionScope{state::turn_scope("4"), ActionId{"act_1"}},
                          ActionRequired{.action_type = "input", .decisions = {}});
  RollbackThread interrupts = command("1");
  interrupts.interrupt = true;
  const Outcome done = rolled_back(given, interrupts);
  CHECK(done.payload_of<RollbackCompleted>().cancelled_action_ids ==
        std::vector{ActionId{"act_1"}});
  CHECK(done.payload_of<ActionResolved>().decision == "cancelled");
}

TEST_CASE("only an ended turn of the conversation can be the target") {
  Given given = three_turns();
  CHECK(when(Given{}, command("1")).shape() == "refused: not_found");
  RollbackThread elsewhere = command("1");
  elsewhere.thread_id = kOther;
  CHECK(when(given, elsewhere).shape() == "refused: not_found");
  const Outcome unknown = when(given, command("x"));
  CHECK(unknown.shape() == "refused: not_found");
  CHECK(unknown.refusal().message.contains("agentrt show " + kSession.text()));
  Inputs removed = inputs_with(given, {});
  removed.named.removed->in_conversation = false;
  const Outcome gone = when(given.view(), command("1"), std::move(removed));
  CHECK(gone.shape() == "refused: conflict");
  CHECK(gone.refusal().details == R"({"status":"removed"})");
  given.running("4");
  RollbackThread running = command("4");
  running.interrupt = true;
  CHECK(when(given, running).refusal().details == R"({"status":"preparing","turnId":"turn_4"})");
}

TEST_CASE("the number of rollbacks of a thread is limited") {
  const Given given = three_turns();
  Settings settings = usual_settings();
  settings.rollbacks_max = 0;
  Inputs inputs = inputs_with(given, {"2", "3"});
  inputs.settings = &settings;
  CHECK(when(given.view(), command("1"), std::move(inputs)).shape() == "refused: limit_exceeded");
}

TEST_CASE("lists are cut, totals are not, and effects name what remains") {
  const Given given = three_turns();
  Inputs inputs = inputs_with(given, {"2", "3"});
  RemovedPart& part = *inputs.named.removed;
  for (std::size_t i = 0; i < kRollbackListMax; ++i) {
    part.calls.push_back({.kind = EffectKind::command, .text = "ls"});
    part.files.push_back({"/w/" + std::to_string(i), EffectState::changed_since});
  }
  part.call_count = 500;
  part.file_count = 300;
  const Outcome done = when(given.view(), command("1"), std::move(inputs));
  const auto reply = done.reply<RollbackThreadReply>();
  CHECK(reply.effects.size() == kRollbackListMax);
  CHECK(reply.effect_count == 800);
  CHECK(reply.files.size() == kRollbackListMax);
  CHECK(reply.file_count == 300);
  CHECK(done.payload_of<RollbackCompleted>().effect_count == 800);
}

namespace {

// A rollback to turn 1 with its restoring turn.
struct Restoring {
  Restoring() {
    Inputs inputs = inputs_with(given, {"2", "3"});
    inputs.named.removed->restorable = 2;
    last = when(given.view(), command("1", RestoreMode::files), std::move(inputs));
  }
  ReportRestoreFiles report(std::uint64_t next, const std::vector<std::string>& paths) const {
    ReportRestoreFiles out;
    out.turn = last.thread().active->ids.turn;
    out.next = next;
    for (const std::string& path : paths)
      out.files.push_back({.path = path, .from = "sha256:b", .to = "sha256:a", .diffs = {"out_d"}});
    Policy policy;
    policy.rules = {{RuleEffect::allow, "write_file", RuleOrigin::user}};
    out.policy = policy;
    return out;
  }
  const Outcome& then(const Report& what) {
    last = when(last.after, what, inputs_at(given.now()));
    return last;
  }
  const state::Turn& turn() const { return *last.thread().active; }

  Given given = three_turns();
  Outcome last;
};

}  // namespace

TEST_CASE("restoring files is a turn in the same append") {
  Restoring story;
  CHECK(story.last.shape() ==
        "history.rollback.started history.rollback.completed task.created turn.submitted "
        "task.started task.attempt.started turn.started run.status");
  const auto reply = story.last.reply<RollbackThreadReply>();
  CHECK(reply.restore_turn_id == story.turn().ids.turn);
  const auto& submitted = story.last.payload_of<TurnSubmitted>();
  CHECK(submitted.source == "system");
  CHECK(submitted.work == "restore");
  CHECK(submitted.restore->after == end_of(story.given, "1"));
  CHECK(submitted.restore->through == story.last.fact_of<RollbackCompleted>().sequence);
}

TEST_CASE("each file is a call that policy judges as write_file of its path") {
  Restoring story;
  CHECK(story.then(story.report(0, {"/w/a", "/w/b"})).shape() ==
        "policy.changed run.status item.started item.started permission.evaluated tool.started "
        "run.status");
  CHECK(story.turn().tools.size() == 2);
  CHECK(story.turn().work->restored == 2);
  CHECK(story.last.payload_of<ToolStarted>().tool_name == tools::kRestoreFile.name);
  CHECK(story.last.payload_of<PermissionEvaluated>().decision == Decision::allow);
  ReportCallEnded ended;
  ended.turn = story.turn().ids.turn;
  ended.call = story.turn().tools.front().id;
  ended.text = "Restored a.";
  CHECK(story.then(ended).shape() ==
        "tool.result item.completed permission.evaluated tool.started run.status");
  ended.call = story.turn().tools.front().id;
  CHECK(story.then(ended).shape() == "tool.result item.completed");
  // A report about files that have begun is late.
  CHECK(story.then(story.report(0, {"/w/c"})).all_of<ItemStarted>().empty());
  CHECK(story.then(story.report(2, {})).shape() ==
        "task.attempt.completed turn.completed task.completed");
}

TEST_CASE("a restoring turn continues by itself after a restart") {
  Restoring story;
  story.then(story.report(0, {"/w/a"}));
  Inputs inputs = inputs_at(story.given.now());
  inputs.boot = BootId{"boot_2"};
  const Outcome again = when(story.last.after, Report{ReportRestarted{}}, std::move(inputs));
  CHECK(again.shape() == "thread.updated");
  CHECK(again.thread().active->boot == BootId{"boot_2"});
  CHECK_FALSE(again.thread().active->prepared);
  CHECK(again.thread().active->tools.size() == 1);
}

TEST_CASE("a restoring turn fails if its files cannot be read") {
  Restoring story;
  ReportRestoreFiles report = story.report(0, {});
  report.failure = Failure{Category::unavailable, "no disk", true};
  CHECK(story.then(report).shape() == "task.attempt.failed turn.failed task.failed");
}

TEST_CASE("a model cannot call the tool that restores files") {
  Given given;
  given.session().thread_started().running("1").asked("1");
  ReportModelCompleted answer;
  answer.request = state::request_of("1");
  AskedCall call;
  call.name = tools::kRestoreFile.name;
  call.args = Json{R"({"path":"/w/a"})"};
  answer.calls = {call};
  answer.stop_reason = StopReason::tool_use;
  const Outcome outcome = when(given, answer);
  CHECK(outcome.payload_of<ToolFailed>().error.category == Category::not_found);
}

}  // namespace agentrt::control
