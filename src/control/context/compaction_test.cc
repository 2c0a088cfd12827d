// control/context/compaction_test.cc: tests what a turn records about its requests, and when and
// how a conversation is compacted.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::kSession;
using state::kThread;

namespace {

ReportPrepared prepared_with(std::size_t request_bytes, const std::string& turn = "turn_1") {
  ReportPrepared report;
  report.turn = TurnId{turn};
  report.context.cwd = "/w";
  report.context.instructions_digest = "sha256:i";
  report.candidates = {
      {.name = "main", .provider = "script", .model = "main.jsonl", .context_tokens = 100'000}};
  report.request_bytes = request_bytes;
  return report;
}

// A view in which a decision continues where the last one left it.
struct Story {
  template <class What>
  const Outcome& then(const What& what) {
    last = when(view, what, inputs_at(state::kStart));
    view = last.after;
    return last;
  }
  const state::Turn& turn() const { return *view.threads.at(kThread).active; }
  ModelRequestId request() const { return turn().call->id; }

  // Turn 1 runs, and turn 0 has ended.
  state::Session view =
      Given{}.session().thread_started().running("0").asked("0").completed("0").running("1").view();
  Outcome last;
};

ReportModelCompleted answer(const Story& story, const std::string& text) {
  ReportModelCompleted report;
  report.request = story.request();
  report.text = text;
  report.text_bytes = text.size();
  return report;
}

KeptOutput output(const std::string& ref) {
  KeptOutput out;
  out.ref = OutputRef{ref};
  out.size = 10;
  return out;
}

ReportCompacted compacted_to(std::uint64_t tokens) {
  ReportCompacted report;
  report.turn = TurnId{"turn_1"};
  report.summary = output("out_s");
  report.continuation = output("out_c");
  report.tokens_after = tokens;
  return report;
}

ReportCompactionPlanned planned(std::uint64_t pieces) {
  ReportCompactionPlanned report;
  report.turn = TurnId{"turn_1"};
  report.covers_through = 3;
  report.turns = 2;
  report.tokens_before = 90'000;
  report.pieces = pieces;
  report.provider = "script";
  report.model = "main.jsonl";
  report.model_name = "main";
  return report;
}

ReportModelFailed too_long(const Story& story) {
  ReportModelFailed report;
  report.request = story.request();
  report.error = {Category::invalid_input, "too long", false};
  report.cause = FaultCause::context_size;
  return report;
}

CompactThread command() {
  CompactThread out;
  out.session_id = kSession;
  out.thread_id = kThread;
  return out;
}

}  // namespace

TEST_CASE("a turn records its size, and whether it starts like the last request") {
  Story story;
  story.view = Given{}.session().thread_started().running("1").view();
  story.then(prepared_with(3'000));
  const auto& first = story.last.payload_of<ContextResolved>();
  CHECK(first.prefix == ContextPrefix{"new", {}});
  REQUIRE(first.tokens.has_value());
  CHECK(first.tokens->limit == 100'000);
  CHECK(first.tokens->used > 1'000);  // the tools count too
  CHECK(first.tokens->source == "estimate");
  ReportModelCompleted done = answer(story, "yes");
  done.usage = {50'000, 10};
  story.then(done);
  const auto next = [&](const auto& change) {
    ReportPrepared report = prepared_with(3'000, "turn_2");
    report.new_bytes = 300;
    change(report);
    state::Session view = story.view;
    Given later;
    for (const Fact& fact : later.session().thread_started().running("2").log())
      if (fact.sequence > 2) {
        Fact copy = fact;
        copy.sequence = view.sequence + 1;
        state::fold(view, copy);
      }
    return when(view, report, inputs_at(state::kStart)).payload_of<ContextResolved>();
  };
  const ContextResolved same = next([](auto&) {});
  CHECK(same.prefix == ContextPrefix{"same", {}});
  CHECK(same.tokens == ContextTokens{50'110, 100'000, "usage"});
  CHECK(next([](auto& r) { r.context.instructions_digest = "sha256:j"; }).prefix ==
        ContextPrefix{"changed", "instructions"});
  CHECK(next([](auto& r) { r.candidates[0].model = "other"; }).prefix ==
        ContextPrefix{"changed", "model"});
  CHECK(next([](auto& r) { r.server_tools = {{.tool_name = "mcp__a__b"}}; }).prefix ==
        ContextPrefix{"changed", "tools"});
  CHECK(next([](auto& r) { r.context.omitted_through = 5; }).prefix ==
        ContextPrefix{"changed", "omitted"});
}

TEST_CASE("a catalogue and an environment that are unchanged are named, not repeated") {
  Story story;
  ReportPrepared report = prepared_with(10);
  report.environment.emplace().cwd = "/w";
  story.then(report);
  const auto first = story.last.payload_of<ToolCatalogResolved>();
  REQUIRE(first.tools.has_value());
  CHECK(first.count == first.tools->size());
  const Sequence at = story.last.fact_of<ToolCatalogResolved>().sequence;
  const Sequence context_at = story.last.fact_of<ContextResolved>().sequence;
  CHECK(story.last.payload_of<ContextResolved>().environment->cwd == "/w");

  story.view.threads.at(kThread).active->prepared = false;  // as after a restart
  story.then(report);
  const auto second = story.last.payload_of<ToolCatalogResolved>();
  CHECK_FALSE(second.tools.has_value());
  CHECK(second.same_as == "log:" + std::to_string(at));
  CHECK(second.digest == first.digest);
  CHECK(second.count == first.count);
  const auto environment = story.last.payload_of<ContextResolved>().environment;
  CHECK(environment->same_as == "log:" + std::to_string(context_at));
  CHECK_FALSE(environment->cwd.has_value());
  CHECK(story.view.threads.at(kThread).environment->cwd == "/w");
  CHECK(story.turn().catalog == at);
}

TEST_CASE("a request that would exceed its share of the window is compacted first") {
  Story story;
  CHECK(
      story.then(prepared_with(300'000)).shape().ends_with("routing.single_candidate run.status"));
  REQUIRE(story.turn().compaction.has_value());
  CHECK(story.turn().compaction->trigger == "automatic");
  CHECK(story.then(planned(2)).shape() == "context.compaction.started model.requested");
  CHECK(story.last.payload_of<CompactionStarted>().affected_turn_count == 2);
  CHECK(story.last.payload_of<ModelRequested>().purpose == "compaction");
  CHECK(story.turn().requests == 0);  // it is no step of the turn
  // Its fragments are not shown, and the next piece follows.
  CHECK(story.then(ReportFragments{story.request(), {{false, "x"}}}).shape() == "unchanged");
  CHECK(story.then(answer(story, "half")).shape() == "model.completed model.requested");
  CHECK(story.then(answer(story, "all")).shape() == "model.completed");
  CHECK(story.turn().compaction->done == 2);
  CHECK(story.then(compacted_to(9'000)).shape() ==
        "output.spilled output.spilled context.compaction.completed model.requested");
  CHECK_FALSE(story.last.payload_of<OutputSpilled>().expires_at.has_value());
  CHECK_FALSE(story.last.payload_of<ModelRequested>().purpose.has_value());
  CHECK(story.view.threads.at(kThread).boundaries.back().continuation_ref == "out_c");
  CHECK(story.view.threads.at(kThread).context.used() == 9'000);
}

TEST_CASE("a compaction that fails or saves nothing leaves the thread as it was") {
  Story story;
  story.then(prepared_with(300'000));
  SUBCASE("an empty summary") {
    story.then(planned(1));
    CHECK(story.then(answer(story, "")).shape() ==
          "model.completed context.compaction.failed runtime.warning run.status");
  }
  SUBCASE("no tokens are saved") {
    story.then(planned(1));
    story.then(answer(story, "long"));
    CHECK(story.then(compacted_to(90'000)).shape() ==
          "context.compaction.failed runtime.warning run.status");
  }
  SUBCASE("nothing to summarise") {
    CHECK(story.then(planned(0)).shape() ==
          "context.compaction.started context.compaction.failed runtime.warning run.status");
  }
  CHECK(story.view.threads.at(kThread).boundaries.empty());
  CHECK_FALSE(story.turn().prepared);  // it is prepared again, and not compacted again
  CHECK(story.then(prepared_with(300'000)).shape().ends_with("model.requested"));
}

TEST_CASE("a request that the provider finds too long is compacted and retried once") {
  Story story;
  story.then(prepared_with(10));
  CHECK(story.then(too_long(story)).shape() == "model.failed run.status");
  CHECK(story.turn().compaction->trigger == "overflow");
  story.then(planned(1));
  story.then(answer(story, "sum"));
  story.then(compacted_to(100));
  REQUIRE(story.turn().call.has_value());
  CHECK(story.then(too_long(story)).shape().contains("turn.failed"));
}

TEST_CASE("compact_thread runs as a turn of its own") {
  CHECK(when(Given{}.session(), command()).shape() == "refused: not_found");
  CHECK(when(Given{}.session().thread_started(), command()).shape() == "unchanged");
  CompactThread long_one = command();
  long_one.instructions = std::string(kCompactInstructionsMax + 1, 'x');
  CHECK(when(Given{}.session().thread_started(), long_one).shape() == "refused: invalid_params");

  const Given busy = Given{}.session().thread_started().running("1").asked("1");
  const Outcome queued = when(busy, command());
  CHECK(queued.shape() == "task.created turn.submitted queue.changed");
  CHECK(queued.reply<CompactThreadReply>().status == CompactStatus::queued);

  Story story;
  story.view = Given{}.session().thread_started().running("9").asked("9").completed("9").view();
  story.then(command());
  CHECK(story.last.shape() ==
        "task.created turn.submitted task.started task.attempt.started turn.started run.status");
  CHECK(story.last.payload_of<TurnSubmitted>().source == "system");
  ReportPrepared report = prepared_with(10);
  report.turn = story.turn().ids.turn;
  CHECK(story.then(report).shape().ends_with("routing.single_candidate run.status"));
  ReportCompactionPlanned plan = planned(1);
  plan.turn = report.turn;
  story.then(plan);
  story.then(answer(story, "sum"));
  ReportCompacted done = compacted_to(100);
  done.turn = report.turn;
  CHECK(
      story.then(done).shape().contains("context.compaction.completed task.attempt.completed "
                                        "turn.completed task.completed"));
  CHECK(when(story.view, command(), inputs_at(state::kStart)).shape() == "unchanged");
}

}  // namespace agentrt::control
