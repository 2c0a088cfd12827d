// control/answer_test.cc: tests how a model request ends: answered, retried or failed.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::busy_thread;
using state::Given;
using state::request_of;

namespace {

constexpr std::string_view kNextStarts =
    " queue.changed task.started task.attempt.started turn.started run.status";

ReportModelCompleted answer(const std::string& text) {
  return {.request = request_of("1"),
          .usage = {7, 3, {}, {}},
          .pieces = {{false, text}},
          .text = text,
          .text_bytes = text.size()};
}

ReportModelFailed failure(Failure error) {
  return {.request = request_of("1"),
          .error = std::move(error),
          .provider_status = 429,
          .ended_by_provider = true};
}

const Failure kTransient{Category::rate_limited, "slow down", true};
const Failure kFinal{Category::denied, "no such key", false};

Given alone() { return Given{}.session().thread_started().running("1").asked("1"); }

// A turn that has already retried `retries` times.
Given after_retries(std::uint64_t retries) {
  Given past = alone();
  for (std::uint64_t i = 1; i <= retries; ++i) past.retrying("1", i, 10).wait(10).requested("1");
  return past;
}

// A turn that waits for main, and could continue with the models of the chain.
Given with_chain(std::vector<std::string> chain) {
  Given past = Given{}.session().thread_started().running("1");
  const auto scope = state::turn_scope("1");
  past.fact(scope, ContextResolved{.cwd = "/w"});
  RoutingCandidatesResolved resolved;
  for (const char* name : {"main", "backup", "last"})
    resolved.candidates.push_back({.name = name, .provider = "script", .model = name});
  past.fact(scope, resolved);
  past.fact(scope, RoutingDecided{{.selected_provider = "script",
                                   .selected_model = "main",
                                   .selected_name = "main",
                                   .fallback_chain = std::move(chain)}});
  return past.requested("1");
}

}  // namespace

TEST_CASE("an answer at once completes request, item, attempt, turn and task in one decision") {
  const Given past = alone().wait(40);
  const Outcome outcome = when(past, answer("Hello."));
  CHECK(outcome.shape() ==
        "run.status item.started model.delta model.completed item.completed "
        "task.attempt.completed turn.completed task.completed");
  CHECK(outcome.payload_of<ModelCompleted>() == ModelCompleted{.text = "Hello.",
                                                               .stop_reason = StopReason::end_turn,
                                                               .usage = {7, 3, {}, {}},
                                                               .provider = "script",
                                                               .model = "play.jsonl",
                                                               .duration_ms = 40});
  CHECK(outcome.payload_of<ItemCompleted>() == ItemCompleted{.text = "Hello."});
  CHECK(outcome.payload_of<TurnCompleted>() ==
        TurnCompleted{.usage = {7, 3, {}, {}}, .duration_ms = 40});
  CHECK(outcome.thread().status == Status::idle);
  CHECK(outcome.thread().last->answer_preview == "Hello.");
  CHECK(outcome.after.tasks == TaskSummary{.active = 0, .completed = 1});
}

TEST_CASE("the next turn of the queue starts in the decision that completes the running one") {
  const Outcome outcome =
      when(busy_thread().said("1", "Hello."),
           ReportModelCompleted{.request = request_of("1"), .text = "Hello.", .text_bytes = 6});
  CHECK(outcome.shape() ==
        "model.completed item.completed task.attempt.completed turn.completed task.completed" +
            std::string(kNextStarts));
  CHECK(outcome.fact_of<TurnStarted>().ids.turn_id == TurnId{"turn_2"});
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_2"});
  CHECK(names_of(outcome.thread().queue) == std::vector<std::string>{"turn_3"});
}

TEST_CASE("text of 64 KiB is in the closing facts, longer text as its beginning and a ref") {
  const Outcome inline_text = when(alone(), answer(std::string(kTextInlineMax, 'x')));
  CHECK(inline_text.payload_of<ModelCompleted>().text->size() == kTextInlineMax);
  CHECK_FALSE(inline_text.payload_of<ModelCompleted>().output_ref.has_value());

  const Outcome by_ref = when(alone(), answer(std::string(kTextInlineMax + 1, 'x')));
  const auto& completed = by_ref.payload_of<ModelCompleted>();
  CHECK_FALSE(completed.text.has_value());
  CHECK(completed.preview == std::string(kPreviewBytes, 'x'));
  std::vector<Sequence> deltas;
  for (const Fact& fact : by_ref.facts)
    if (std::holds_alternative<ModelDelta>(fact.payload)) deltas.push_back(fact.sequence);
  REQUIRE(deltas.size() == 2);
  CHECK(completed.output_ref ==
        "log:" + std::to_string(deltas.front()) + "-" + std::to_string(deltas.back()));
  const auto& item = by_ref.payload_of<ItemCompleted>();
  CHECK(item.output_ref == completed.output_ref);
  CHECK(item.preview == completed.preview);
}

TEST_CASE("the ref of a long answer begins at the first fragment that was reported before") {
  const Given past = alone().said("1", "first");
  const std::string rest(kTextInlineMax, 'x');
  ReportModelCompleted report = answer(rest);
  report.text_bytes += 5;
  const Outcome outcome = when(past, report);
  const std::string first = std::to_string(past.view().sequence);
  CHECK(outcome.payload_of<ModelCompleted>().output_ref->starts_with("log:" + first + "-"));
}

TEST_CASE("reasoning is summed up before the answer completes") {
  ReportModelCompleted report = answer("Hello.");
  report.pieces = {{true, "Hm."}, {false, "Hello."}};
  report.reasoning = "Hm.";
  report.reasoning_bytes = 3;
  const Outcome outcome = when(alone(), report);
  CHECK(outcome.shape() ==
        "run.status item.started reasoning.delta item.started model.delta reasoning.summary "
        "model.completed item.completed item.completed task.attempt.completed turn.completed "
        "task.completed");
  CHECK(outcome.payload_of<ReasoningSummary>() == ReasoningSummary{.text = "Hm."});
  CHECK(outcome.all_of<ItemCompleted>()[0].kind == ItemKind::reasoning);
}

TEST_CASE("an empty answer opens no item") {
  const Outcome outcome = when(alone(), ReportModelCompleted{.request = request_of("1")});
  CHECK(outcome.shape() == "model.completed task.attempt.completed turn.completed task.completed");
}

TEST_CASE("the usage of a turn is the sum over its requests") {
  ReportModelCompleted report = answer("done");
  report.usage = {1, 2, 3, {}};
  Given past = alone();
  past.fact(state::model_scope("1"), ModelCompleted{.text = "", .usage = {10, 20, {}, 5}})
      .requested("1");
  CHECK(when(past, report).payload_of<TurnCompleted>().usage == Usage{11, 22, 3, 5});
}

TEST_CASE("a transient failure is retried after a delay that doubles") {
  const std::vector<std::int64_t> waits = {2'000, 4'000, 8'000};
  for (std::uint64_t retries = 0; retries < waits.size(); ++retries) {
    const Given past = after_retries(retries);
    const Outcome outcome = when(past, failure(kTransient));
    CHECK(outcome.shape() == "model.failed run.status");
    const auto& failed = outcome.payload_of<ModelFailed>();
    CHECK(failed.provider_status == 429);
    CHECK(failed.ended_by_provider);
    CHECK(failed.retry == ModelRetry{retries + 1, waits[retries], past.now() + waits[retries]});
    CHECK(outcome.payload_of<RunStatus>().status == Status::retrying);
    CHECK(outcome.thread().active->retry_at == past.now() + waits[retries]);
    CHECK_FALSE(outcome.thread().active->call.has_value());
  }
}

TEST_CASE("a failure other than overload is retried sooner") {
  ReportModelFailed report = failure(kTransient);
  report.provider_status = 500;
  CHECK(when(alone(), report).payload_of<ModelFailed>().retry->after_ms == 250);
}

TEST_CASE("the provider's own retry-after is kept, or the turn fails where it is too long") {
  ReportModelFailed report = failure(kTransient);
  report.retry_after_ms = 1'700;
  CHECK(when(alone(), report).payload_of<ModelFailed>().retry->after_ms == 1'700);
  report.retry_after_ms = 300'000;
  CHECK(when(alone(), report).payload_of<ModelFailed>().retry->after_ms == 300'000);
  report.retry_after_ms = 3'600'000;
  const Outcome outcome = when(alone(), report);
  CHECK_FALSE(outcome.payload_of<ModelFailed>().retry);
  CHECK(outcome.payload_of<TurnFailed>().error->message.ends_with(
      "; it asks to wait 3600 s, so try again later"));
  report.retry_after_ms = -5;
  CHECK(when(alone(), report).payload_of<ModelFailed>().retry->after_ms == 0);
}

TEST_CASE("backoff never exceeds the longest wait, however many retries there are") {
  Settings patient = usual_settings();
  patient.model_retries_max = 100;
  const Given past = after_retries(40);
  Inputs inputs = inputs_at(past.now());
  inputs.settings = &patient;
  const Outcome outcome = when(past.view(), failure(kTransient), inputs);
  CHECK(outcome.payload_of<ModelFailed>().retry->after_ms == 30'000);
}

TEST_CASE("when the retries are used up the turn fails") {
  const Outcome outcome = when(after_retries(3), failure(kTransient));
  CHECK(outcome.shape() == "model.failed task.attempt.failed turn.failed task.failed");
  CHECK_FALSE(outcome.payload_of<ModelFailed>().retry.has_value());
  CHECK(outcome.payload_of<TurnFailed>().status == Status::failed);
  CHECK(outcome.payload_of<TurnFailed>().error == kTransient);
  CHECK(outcome.thread().status == Status::idle);
}

TEST_CASE("a turn asks no more often than its steps allow") {
  Settings short_turns = usual_settings();
  short_turns.turn_steps_max = 2;
  const Given past = after_retries(1);
  Inputs inputs = inputs_at(past.now());
  inputs.settings = &short_turns;
  CHECK(when(past.view(), failure(kTransient), inputs).shape() ==
        "model.failed task.attempt.failed turn.failed task.failed");
}

TEST_CASE("a failure that is not transient fails the turn at once and the next one starts") {
  const Outcome outcome = when(busy_thread(), failure(kFinal));
  CHECK(outcome.shape() ==
        "model.failed task.attempt.failed turn.failed task.failed" + std::string(kNextStarts));
  CHECK(outcome.payload_of<TaskFailed>().error == kFinal);
  CHECK(outcome.thread().last->error == kFinal);
  CHECK(outcome.thread().active->ids.turn == TurnId{"turn_2"});
  CHECK(outcome.after.tasks == TaskSummary{.active = 2, .failed = 1});
}

TEST_CASE("a failure in the middle of an answer keeps its text and closes its items as failed") {
  ReportModelFailed report = failure(kTransient);
  report.pieces = {{true, "Hm."}, {false, "Hel"}};
  const Outcome outcome = when(alone(), report);
  CHECK(outcome.shape() ==
        "run.status item.started reasoning.delta item.started model.delta model.failed "
        "item.completed item.completed run.status");
  for (const ItemCompleted& item : outcome.all_of<ItemCompleted>()) {
    CHECK(item.status == Status::failed);
    CHECK(item.error == kTransient);
  }
  CHECK_FALSE(outcome.thread().active->message_item.has_value());
  CHECK_FALSE(outcome.thread().active->reasoning_item.has_value());
}

TEST_CASE("the items of a failed request keep the text that was shown") {
  ReportModelFailed report = failure(kTransient);
  report.pieces = {{true, "Hm."}, {false, "Hel"}};
  report.text = "Hel";
  report.text_bytes = 3;
  report.reasoning = "Hm.";
  report.reasoning_bytes = 3;
  const Outcome outcome = when(alone(), report);
  const auto items = outcome.all_of<ItemCompleted>();
  REQUIRE(items.size() == 2);
  CHECK(items[0].text == "Hm.");
  CHECK(items[1].text == "Hel");
  report.text_bytes = kTextInlineMax + 1;
  const auto long_items = when(alone(), report).all_of<ItemCompleted>();
  CHECK_FALSE(long_items[1].text.has_value());
  CHECK(long_items[1].preview == "Hel");
  CHECK(long_items[1].output_ref->starts_with("log:"));
}

TEST_CASE("when a model fails for good, the turn continues with the next one of its chain") {
  ReportModelFailed report = failure(kFinal);
  report.cause = FaultCause::credential;
  const Given past = with_chain({"backup", "last"});
  const Outcome outcome = when(past, report);
  CHECK(outcome.shape() == "model.failed routing.fallback.applied model.requested");
  const auto& applied = outcome.payload_of<RoutingFallbackApplied>();
  CHECK(applied.from_name == "main");
  CHECK(applied.selected_name == "backup");
  CHECK(applied.cause == FaultCause::credential);
  CHECK(applied.failed_request_id == request_of("1"));
  CHECK(applied.fallback_chain == std::vector<std::string>{"last"});
  CHECK(applied.decision_reason == "main rejects the API key");
  CHECK(outcome.payload_of<ModelFailed>().cause == FaultCause::credential);
  CHECK(outcome.payload_of<ModelRequested>().model_name == "backup");
  CHECK(outcome.payload_of<ModelRequested>().number == 2);
  const state::Turn& turn = *outcome.thread().active;
  CHECK(state::switched_model(turn) == "backup");
  CHECK(turn.ended_by_provider == 0);
}

TEST_CASE("a transient failure is retried before the next model is asked, a long wait is not") {
  ReportModelFailed report = failure(kTransient);
  report.cause = FaultCause::rate_limit;
  CHECK(when(with_chain({"backup"}), report).shape() == "model.failed run.status");
  report.retry_after_ms = 60'000;
  CHECK(when(with_chain({"backup"}), report).shape() ==
        "model.failed routing.fallback.applied model.requested");
  CHECK(when(with_chain({}), report).shape() == "model.failed run.status");
}

TEST_CASE("a turn fails if its chain has ended, or if every model would refuse the request") {
  ReportModelFailed report = failure(kFinal);
  report.cause = FaultCause::credential;
  CHECK(when(with_chain({}), report).shape() ==
        "model.failed task.attempt.failed turn.failed task.failed");
  report.cause = FaultCause::content;
  CHECK(when(with_chain({"backup"}), report).shape() ==
        "model.failed task.attempt.failed turn.failed task.failed");
}

TEST_CASE("a report about a request that is over changes nothing") {
  const Given past = alone().completed("1");
  CHECK(when(past, answer("late")).shape() == "unchanged");
  CHECK(when(past, failure(kTransient)).shape() == "unchanged");
  CHECK(when(alone().retrying("1", 1, 10), answer("late")).shape() == "unchanged");
}

TEST_CASE("when a retry is due the same model is asked again") {
  const Outcome outcome =
      when(alone().retrying("1", 1, 250).wait(250), ReportRetryDue{TurnId{"turn_1"}});
  CHECK(outcome.shape() == "model.requested");
  CHECK(outcome.payload_of<ModelRequested>() == ModelRequested{.provider = "script",
                                                               .model = "play.jsonl",
                                                               .model_name = "main",
                                                               .request_ref = "log:4",
                                                               .number = 2,
                                                               .boot_id = state::kBoot});
  CHECK_FALSE(outcome.thread().active->retry_at.has_value());
  CHECK(outcome.thread().active->retries == 1);
}

TEST_CASE("a retry that nobody waits for any more changes nothing") {
  const ReportRetryDue due{TurnId{"turn_1"}};
  CHECK(when(alone(), due).shape() == "unchanged");
  CHECK(when(alone().retrying("1", 1, 250).requested("1"), due).shape() == "unchanged");
  CHECK(when(alone().retrying("1", 1, 250).blocked("1", "restart"), due).shape() == "unchanged");
  CHECK(when(Given{}.session(), due).shape() == "unchanged");
}

}  // namespace agentrt::control
