// sim/checks_test.cc: each invariant on made-up facts: what it lets pass and what it stops.
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

std::string broken(const Checked& checked) { return checked ? checked->invariant : ""; }

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
