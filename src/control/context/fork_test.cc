// control/context/fork_test.cc: tests when a thread may be forked, and what is recorded.
#include <doctest/doctest.h>

#include "control/testing/given.h"
#include "state/index.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::kSession;
using state::kThread;

namespace {

const ThreadId kOther{"thread_other"};

// Turns 1 and 2 have ended.
Given two_turns() {
  Given given;
  given.session().thread_started().running("1").asked("1").completed("1");
  given.running("2").asked("2").completed("2");
  return given;
}

ForkThread command(std::optional<std::string> turn = {}) {
  ForkThread out;
  out.session_id = kSession;
  out.thread_id = kThread;
  if (turn) out.turn_id = TurnId{*turn};
  return out;
}

// What the lane reads for the command, if the turn ended with fact `end`.
Inputs inputs_with(Sequence end, const ThreadId& thread = kThread) {
  Inputs inputs = inputs_at(state::kStart);
  inputs.named.ended = LaneReads::EndedTurn{.thread = thread, .end = end, .hash = "ab12"};
  return inputs;
}

}  // namespace

TEST_CASE("a fork is one fact that names the end of the inherited turn") {
  const Given given = two_turns();
  CHECK(needs_of(given.view(), Command{command()}).ended == TurnId{"turn_2"});
  CHECK(needs_of(given.view(), Command{command("turn_1")}).ended == TurnId{"turn_1"});
  const Outcome forked = when(given.view(), command("turn_1"), inputs_with(9));
  CHECK(forked.shape() == "thread.started");
  const auto reply = forked.reply<ForkThreadReply>();
  const ForkPoint from{kSession, kThread, TurnId{"turn_1"}, 9, "ab12"};
  CHECK(reply.forked_from == from);
  CHECK(reply.sequence == forked.after.sequence);
  CHECK(forked.payload_of<ThreadStarted>().forked_from == from);
  const state::Thread& thread = forked.after.threads.at(reply.thread_id);
  CHECK(thread.turns == 0);
  CHECK(thread.fork->parts == std::vector<InheritedPart>{{kThread, 9}});
  CHECK(state::thread_read(forked.after, thread).forked_from == from);
  CHECK(state::thread_snapshot(forked.after, thread).forked_from == from);
  CHECK_FALSE(state::thread_read(forked.after, forked.after.threads.at(kThread)).forked_from);
}

TEST_CASE("a fork of a fork inherits from both, and a chain of forks has a limit") {
  Given given = two_turns();
  ThreadId source = kThread;
  for (std::size_t i = 0; i < kForkDepthMax; ++i) {
    const ThreadId next{"fork_" + std::to_string(i)};
    const ForkPoint from{kSession, source, TurnId{"turn_2"}, given.view().sequence, "ab12"};
    given.fact(ThreadScope{kSession, next}, ThreadStarted{.forked_from = from});
    source = next;
  }
  CHECK(given.thread(ThreadId{"fork_1"}).fork->parts.size() == 2);
  CHECK(given.thread(ThreadId{"fork_1"}).fork->parts.front().thread_id == kThread);
  ForkThread again = command("turn_9");
  again.thread_id = source;
  CHECK(when(given.view(), again, inputs_with(9, source)).shape() == "refused: limit_exceeded");
}

TEST_CASE("a fork has the compactions of its source up to the inherited turn") {
  Given given = two_turns();
  const Sequence early = given.view().sequence;
  given.running("3").fact(state::turn_scope("3"), CompactionCompleted{.continuation_ref = "out_c",
                                                                      .covers_through = early});
  given.completed("3");
  const auto fork_at = [&](Sequence end) {
    const Outcome forked = when(given.view(), command("turn_2"), inputs_with(end));
    return forked.after.threads.at(forked.reply<ForkThreadReply>().thread_id).boundaries.size();
  };
  CHECK(fork_at(early) == 0);
  CHECK(fork_at(given.view().sequence) == 1);
}

TEST_CASE("only an ended turn of the thread can be forked") {
  Given given = two_turns();
  CHECK(when(Given{}, command()).shape() == "refused: not_found");
  ForkThread elsewhere = command();
  elsewhere.thread_id = kOther;
  const Outcome nowhere = when(given, elsewhere);
  CHECK(nowhere.shape() == "refused: not_found");
  CHECK(nowhere.refusal().message.contains("agentrt show " + kSession.text()));
  CHECK(when(given, command("turn_x")).shape() == "refused: not_found");
  CHECK(when(given.view(), command("turn_x"), inputs_with(9, kOther)).shape() ==
        "refused: not_found");
  given.running("3").queued("4");
  const Outcome busy = when(given.view(), command("turn_3"), inputs_with(0));
  CHECK(busy.shape() == "refused: conflict");
  CHECK(busy.refusal().details == R"({"status":"preparing","turnId":"turn_3"})");
  CHECK(when(given.view(), command("turn_4"), inputs_with(0)).shape() == "refused: conflict");
  CHECK(when(given.view(), command(), inputs_with(9)).shape() == "thread.started");
  Given fresh;
  fresh.session().thread_started();
  CHECK(when(fresh, command()).shape() == "refused: conflict");
}

TEST_CASE("a chosen thread id is forked once") {
  const Given given = two_turns();
  ForkThread chosen = command();
  chosen.new_thread_id = kOther;
  const Outcome first = when(given.view(), chosen, inputs_with(9));
  CHECK(first.reply<ForkThreadReply>().thread_id == kOther);
  const Outcome again = when(first.after, chosen, inputs_with(9));
  CHECK(again.shape() == "unchanged");
  CHECK(again.reply_text() == first.reply_text());
  Inputs others = inputs_with(9);
  others.params_hash = "hash_2";
  CHECK(when(first.after, chosen, std::move(others)).shape() == "refused: idempotency_conflict");
  chosen.new_thread_id = kThread;
  CHECK(when(given.view(), chosen, inputs_with(9)).shape() == "refused: idempotency_conflict");
  chosen.new_thread_id = kOther;
  Inputs closed = inputs_with(9);
  closed.named.thread_closed = true;
  CHECK(when(given.view(), chosen, std::move(closed)).shape() == "refused: conflict");
}

namespace {

const SessionId kElsewhere{"sess_2"};

ForkThread elsewhere(std::optional<std::string> turn = {}) {
  ForkThread out = command(std::move(turn));
  out.new_session_id = kElsewhere;
  return out;
}

// What admission has read for a fork into another session.
Inputs inputs_from(const state::Session& source, const ForkThread& command, Sequence end) {
  Inputs inputs = inputs_at(state::kStart);
  inputs.session = kElsewhere;
  inputs.named.fork = fork_source(source, command);
  inputs.named.fork_end = LaneReads::EndedTurn{.thread = kThread, .end = end, .hash = "ab12"};
  return inputs;
}

}  // namespace

TEST_CASE("a fork into a new session takes the folders, and no rules or modes") {
  Given given = two_turns();
  given.fact(ThreadScope{kSession, kThread},
             PolicyChanged{
                 .added = std::vector{PolicyRule{RuleEffect::allow, "shell", RuleOrigin::session}},
                 .mode = PermissionMode::bypass});
  given.running("3").fact(state::turn_scope("3"),
                          CompactionCompleted{.continuation_ref = "out_c", .covers_through = 5});
  given.completed("3");
  const Sequence end = given.view().sequence;
  state::Session view;
  view.id = kElsewhere;
  const Outcome forked = when(view, elsewhere(), inputs_from(given.view(), elsewhere(), end));
  CHECK(forked.shape() == "session.created thread.started");
  const auto reply = forked.reply<ForkThreadReply>();
  CHECK(reply.session_id == kElsewhere);
  CHECK(reply.forked_from.session_id == kSession);
  CHECK(forked.after.cwd == "/w");
  CHECK(forked.after.granted.empty());
  CHECK_FALSE(forked.after.mode.has_value());
  const state::Thread& thread = forked.after.threads.at(reply.thread_id);
  CHECK(thread.fork->parts == std::vector<InheritedPart>{{kThread, end, kSession}});
  REQUIRE(thread.boundaries.size() == 1);
  CHECK(thread.boundaries.front().session_id == kSession);
  CHECK(state::session_snapshot(forked.after).forked_from == reply.forked_from);
  const auto rows = state::index(forked.after, forked.facts.back());
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().terms == std::vector{state::forks_term(kSession)});

  const Outcome again =
      when(forked.after, elsewhere(), inputs_from(given.view(), elsewhere(), end));
  CHECK(again.shape() == "unchanged");
  CHECK(again.reply_text() == forked.reply_text());
  Inputs others = inputs_from(given.view(), elsewhere(), end);
  others.params_hash = "hash_2";
  CHECK(when(forked.after, elsewhere(), std::move(others)).shape() ==
        "refused: idempotency_conflict");
  Inputs bound = inputs_from(given.view(), elsewhere(), end);
  bound.bound = true;
  CHECK(when(view, elsewhere(), std::move(bound)).shape() == "refused: forbidden");

  // A fork of the fork, in a third session, inherits from both.
  ForkThread third = elsewhere();
  third.session_id = kElsewhere;
  third.thread_id = reply.thread_id;
  third.turn_id = TurnId{"turn_9"};
  third.new_session_id = SessionId{"sess_3"};
  Inputs inputs = inputs_from(forked.after, third, 77);
  inputs.session = SessionId{"sess_3"};
  inputs.named.fork_end->thread = reply.thread_id;
  state::Session empty;
  empty.id = SessionId{"sess_3"};
  const Outcome grandchild = when(empty, third, std::move(inputs));
  CHECK(grandchild.payload_of<ThreadStarted>().inherited ==
        std::vector<InheritedPart>{{kThread, end, kSession}, {reply.thread_id, 77, kElsewhere}});
  CHECK(grandchild.payload_of<ThreadStarted>().context_boundary->session_id == kSession);
}

TEST_CASE("a fork into a new session is refused as one within the session") {
  const Given given = two_turns();
  state::Session view;
  view.id = kElsewhere;
  CHECK(when(view, elsewhere(), inputs_from(Given{}.view(), elsewhere(), 9)).shape() ==
        "refused: not_found");
  Inputs unknown = inputs_from(given.view(), elsewhere("turn_x"), 0);
  unknown.named.fork_end.reset();
  CHECK(when(view, elsewhere("turn_x"), std::move(unknown)).shape() == "refused: not_found");
  Given busy = two_turns();
  busy.running("3");
  CHECK(when(view, elsewhere("turn_3"), inputs_from(busy.view(), elsewhere("turn_3"), 0)).shape() ==
        "refused: conflict");
}

TEST_CASE("a fork without turns of its own can be compacted") {
  const Given given = two_turns();
  const Outcome forked = when(given.view(), command(), inputs_with(9));
  CompactThread compact;
  compact.session_id = kSession;
  compact.thread_id = forked.reply<ForkThreadReply>().thread_id;
  CHECK(when(forked.after, compact, inputs_at(state::kStart)).reply<CompactThreadReply>().status ==
        CompactStatus::accepted);
}

}  // namespace agentrt::control
