// cli/views/turn_view_test.cc: what a person sees of a turn, event by event.
#include "cli/views/turn_view.h"

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
  event.payload.text = to_json(payload);
  return event;
}

TurnView shared_view() {
  return TurnView(kTurn, kThread, {Layout::together, Colour::off, Colour::off, true});
}
TurnView piped_view() {
  return TurnView(kTurn, kThread, {Layout::apart, Colour::off, Colour::off, false});
}

TEST_CASE("text streams as it comes and the summary stands on a line of its own") {
  TurnView view = shared_view();
  CHECK(view.show(event_of(ModelDelta{"Hel"})) == TurnText{"Hel", ""});
  CHECK(view.show(event_of(ModelDelta{"lo"})) == TurnText{"lo", ""});
  TurnCompleted completed;
  completed.usage = {10, 5, {}, {}};
  completed.duration_ms = 1'500;
  CHECK(view.show(event_of(completed)) ==
        TurnText{"\n", "· 1.5 s · 10 tokens in, 5 out · session s1\n"});
  CHECK(view.end().ending == Ending::completed);
  CHECK(!view.settled());
  view.show(event_of(TaskCompleted{}));
  CHECK(view.settled());
}

TEST_CASE("an answer that was not streamed is printed when it is complete") {
  TurnView view = piped_view();
  ModelCompleted completed;
  completed.text = "done";
  CHECK(view.show(event_of(completed)).answer == "done");
  TurnView streamed = piped_view();
  streamed.show(event_of(ModelDelta{"done"}));
  CHECK(streamed.show(event_of(completed)).answer.empty());
}

TEST_CASE("a note does not continue a line of the answer on a shared screen") {
  TurnView view = shared_view();
  view.show(event_of(ModelDelta{"half"}));
  CHECK(view.show(event_of(RuntimeWarning{"w", "careful"})) == TurnText{"\n", "· careful\n"});
  TurnView piped = piped_view();
  piped.show(event_of(ModelDelta{"half"}));
  CHECK(piped.show(event_of(RuntimeWarning{"w", "careful"})) == TurnText{"", "· careful\n"});
}

TEST_CASE("reasoning stays out of the answer in a pipe and on its own lines at a terminal") {
  TurnView piped = piped_view();
  CHECK(piped.show(event_of(ReasoningDelta{"hmm"})) == TurnText{"", "hmm"});
  CHECK(piped.show(event_of(ModelDelta{"yes"})) == TurnText{"yes", "\n", true});
  TurnView view = shared_view();
  CHECK(view.show(event_of(ReasoningDelta{"hmm"})) == TurnText{"hmm", ""});
  CHECK(view.show(event_of(ModelDelta{"yes"})) == TurnText{"\nyes", ""});
}

TEST_CASE("model text cannot steer the terminal, and is untouched in a pipe") {
  CHECK(shared_view().show(event_of(ModelDelta{"\x1b[2Jx"})).answer == "[2Jx");
  CHECK(piped_view().show(event_of(ModelDelta{"\x1b[2Jx"})).answer == "\x1b[2Jx");
}

TEST_CASE("steps are told in a line each") {
  TurnView view = shared_view();
  TurnSubmitted submitted;
  submitted.status = Status::queued;
  submitted.position = 2;
  CHECK(view.show(event_of(submitted)).notes == "· queued, position 2\n");
  CHECK(view.show(event_of(QueueChanged{QueueChange::started, kTurn, 0, 0})).notes ==
        "· its turn has come\n");
  CHECK(view.show(event_of(RunStatus{Status::preparing, "prepare", "Preparing", {}, {}})).notes ==
        "· Preparing\n");
  ModelRequested requested;
  requested.model_name = "main";
  requested.provider = "script";
  CHECK(view.show(event_of(requested)).notes == "· model main (script)\n");
  CHECK(view.show(event_of(requested)).notes.empty());
  ModelFailed failed;
  failed.error = {Category::rate_limited, "too many requests", true};
  failed.retry = ModelRetry{1, 50, Timestamp{0}};
  CHECK(view.show(event_of(failed)).notes ==
        "· the model failed (too many requests), asking again in 50 ms\n");
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

}  // namespace
}  // namespace agentrt::cli
