// control/prepared_test.cc: tests the way from a prepared turn to a model request and its text.
#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::busy_thread;
using state::Given;
using state::kBoot;
using state::request_of;

namespace {

Given started() { return Given{}.session().thread_started().running("1"); }

Candidate candidate(const std::string& name) {
  return {.name = name, .provider = "script", .model = name + ".jsonl"};
}

ReportPrepared prepared_with(std::vector<Candidate> candidates) {
  ReportPrepared report;
  report.turn = TurnId{"turn_1"};
  report.context.cwd = "/w";
  report.candidates = std::move(candidates);
  return report;
}

using Piece = ReportFragments::Piece;

ReportFragments fragments_of(std::vector<Piece> pieces) {
  return {request_of("1"), std::move(pieces)};
}

}  // namespace

TEST_CASE("a prepared turn with one model asks it") {
  const Outcome outcome = when(started(), prepared_with({candidate("main")}));
  CHECK(outcome.shape() ==
        "context.resolved tool.catalog.resolved task.profile.resolved routing.candidates.resolved "
        "routing.single_candidate model.requested");
  const Fact& requested = outcome.fact_of<ModelRequested>();
  CHECK(requested.ids.model_request_id.text().starts_with("mreq_"));
  CHECK(requested.ids.span_id != state::turn_scope("1").ids().span_id);
  CHECK(requested.ids.trace_id == state::turn_ids("1").trace);
  CHECK(outcome.payload_of<ModelRequested>() == ModelRequested{.provider = "script",
                                                               .model = "main.jsonl",
                                                               .model_name = "main",
                                                               .request_ref = "log:4",
                                                               .number = 1,
                                                               .boot_id = kBoot});
  CHECK(outcome.thread().active->prepared);
  CHECK(outcome.thread().active->call->id == requested.ids.model_request_id);
}

TEST_CASE("a prepared turn with several models asks the configured default") {
  ReportPrepared report = prepared_with({candidate("a"), candidate("b")});
  report.default_model = "b";
  report.fallback = {"a"};
  report.excluded = {{"c", "policy", {}}};
  const Outcome outcome = when(started(), report);
  CHECK(outcome.payload_of<RoutingDecided>().fallback_chain == std::vector<std::string>{"a"});
  CHECK(outcome.payload_of<RoutingCandidatesResolved>().excluded == report.excluded);
  CHECK(outcome.payload_of<ModelRequested>().model_name == "b");
  CHECK(outcome.after.routing.single_candidate == false);
}

TEST_CASE("a prepared turn without a model is blocked until it is resumed") {
  const Outcome outcome = when(started(), prepared_with({}));
  CHECK(outcome.shape() ==
        "context.resolved tool.catalog.resolved task.profile.resolved routing.candidates.resolved "
        "routing.not_possible task.blocked run.status thread.updated");
  CHECK(outcome.thread().status == Status::blocked);
  CHECK(outcome.thread().reason == "no_model");
  CHECK(outcome.thread().resumable == true);
}

TEST_CASE("history that was loaded for the turn is said first") {
  ReportPrepared report = prepared_with({candidate("main")});
  report.history = HistoryWindowLoaded{.turns = 2, .from_sequence = 3, .to_sequence = 20};
  const Outcome outcome = when(started(), report);
  CHECK(outcome.shape().starts_with("history.window.loaded context.resolved "));
  CHECK(outcome.payload_of<HistoryWindowLoaded>() == *report.history);
}

TEST_CASE("a report about a turn that is prepared, blocked or over changes nothing") {
  const ReportPrepared report = prepared_with({candidate("main")});
  CHECK(when(started().asked("1"), report).shape() == "unchanged");
  CHECK(when(started().blocked("1", "restart"), report).shape() == "unchanged");
  CHECK(when(started().asked("1").completed("1"), report).shape() == "unchanged");
  CHECK(when(Given{}.session(), report).shape() == "unchanged");
}

TEST_CASE("the first fragment opens an item and says once that the turn is streaming") {
  const Outcome first = when(busy_thread(), fragments_of({{false, "Hel"}}));
  CHECK(first.shape() == "run.status item.started model.delta");
  CHECK(first.payload_of<RunStatus>().status == Status::streaming);
  CHECK(first.payload_of<ModelDelta>().text == "Hel");
  CHECK(first.thread().status == Status::streaming);

  const Outcome second = when(first.after, fragments_of({{false, "lo"}}), inputs_at(state::kStart));
  CHECK(second.shape() == "model.delta");
  CHECK(second.thread().active->call->text_bytes == 5);
  CHECK(second.thread().active->call->first_delta == first.after.sequence);
  CHECK(second.thread().active->call->last_delta == second.after.sequence);
}

TEST_CASE("reasoning and answer are two items of one stream") {
  const Outcome outcome =
      when(busy_thread(), fragments_of({{true, "think"}, {false, "say"}, {true, "more"}}));
  CHECK(outcome.shape() ==
        "run.status item.started reasoning.delta item.started model.delta reasoning.delta");
  const auto items = outcome.all_of<ItemStarted>();
  CHECK(items[0].kind == ItemKind::reasoning);
  CHECK(items[1].kind == ItemKind::agent_message);
  CHECK(outcome.thread().active->reasoning_item != outcome.thread().active->message_item);
  CHECK(outcome.thread().active->call->text_bytes == 3);
}

TEST_CASE("an open message is updated at most once a second") {
  const Given early = busy_thread().said("1", "Hel").wait(999);
  CHECK(when(early, fragments_of({{false, "lo"}})).shape() == "model.delta");
  const Given late = busy_thread().said("1", "Hel").wait(1'000);
  const Outcome outcome = when(late, fragments_of({{false, "lo"}}));
  CHECK(outcome.shape() == "model.delta item.updated");
  CHECK(outcome.payload_of<ItemUpdated>().text_bytes == 5);
}

TEST_CASE("a large fragment is split at 64 KiB without splitting a character") {
  std::string text(64 * 1024 - 1, 'x');
  for (int i = 0; i < 30'000; ++i) text += "\u20ac";
  const Outcome outcome = when(busy_thread(), fragments_of({{false, text}}));
  std::string joined;
  for (const ModelDelta& delta : outcome.all_of<ModelDelta>()) {
    CHECK(delta.text.size() <= 64 * 1024);
    CHECK((static_cast<unsigned char>(delta.text.front()) & 0xc0) != 0x80);
    joined += delta.text;
  }
  CHECK(outcome.all_of<ModelDelta>().size() == 3);
  CHECK(outcome.all_of<ModelDelta>().front().text.size() == 64 * 1024 - 1);
  CHECK(joined == text);
}

TEST_CASE("a large fragment that is not UTF-8 is split all the same") {
  const std::string text(200'000, '\x80');
  const Outcome outcome = when(busy_thread(), fragments_of({{false, text}}));
  std::string joined;
  for (const ModelDelta& delta : outcome.all_of<ModelDelta>()) joined += delta.text;
  CHECK(joined == text);
}

TEST_CASE("fragments of an unknown or ended request, and no fragments, change nothing") {
  CHECK(when(busy_thread(), ReportFragments{request_of("9"), {{false, "x"}}}).shape() ==
        "unchanged");
  CHECK(when(started().asked("1").completed("1"), fragments_of({{false, "x"}})).shape() ==
        "unchanged");
  CHECK(when(busy_thread(), fragments_of({})).shape() == "unchanged");
}

}  // namespace agentrt::control
