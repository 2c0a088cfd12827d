// policy/routing_test.cc: tests which model a turn gets, and the stated reason.
#include <doctest/doctest.h>

#include "policy/routing.h"

namespace agentrt::policy {

using namespace schema;

namespace {

Candidate candidate(const std::string& name) {
  return {.name = name, .provider = "acme", .model = name + "-large"};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("one candidate is a path of its own") {
  const RoutingAnswer answer = route({.requested = {}, .candidates = {candidate("a")}});
  const RoutingSingleCandidate expected{{.routing_mode = "single_candidate",
                                         .decision_source = "configuration",
                                         .decision_reason = "it is the only model available",
                                         .selected_provider = "acme",
                                         .selected_model = "a-large",
                                         .selected_name = "a",
                                         .candidate_count = 1}};
  REQUIRE(std::holds_alternative<RoutingSingleCandidate>(answer));
  CHECK(std::get<RoutingSingleCandidate>(answer) == expected);
}

TEST_CASE(
    "of several candidates the turn's wish comes before the default, and that before the first") {
  const std::vector<Candidate> candidates = {candidate("a"), candidate("b"), candidate("c")};
  const auto choose = [&](std::optional<std::string> requested, std::string default_name) {
    const RoutingAnswer answer =
        route({std::move(requested), candidates, std::move(default_name), {}});
    CHECK(std::holds_alternative<RoutingDecided>(answer));
    CHECK(outcome_of(answer).candidate_count == 3);
    return outcome_of(answer);
  };
  CHECK(choose("c", "b").selected_name == "c");
  CHECK(choose("c", "b").decision_source == "request");
  CHECK(choose("c", "b").requested_model == "c");
  CHECK(choose({}, "b").selected_name == "b");
  CHECK(choose({}, "b").decision_source == "configuration");
  CHECK(choose({}, "").selected_name == "a");
  CHECK(choose({}, "gone").selected_name == "a");
}

TEST_CASE("the fallback chain leaves out the chosen model and those that are not available") {
  const RoutingAnswer answer =
      route({{}, {candidate("a"), candidate("b"), candidate("c")}, "b", {"c", "b", "gone", "a"}});
  CHECK(outcome_of(answer).fallback_chain == Names{"c", "a"});
}

TEST_CASE("where a model lacks something, the reason says what, of the one that was wanted") {
  const std::vector<ExcludedCandidate> excluded = {
      {"a", "policy", {}}, {"b", "credential", "set B_KEY"}, {"c", "credential", "set C_KEY"}};
  const auto reason = [&](std::optional<std::string> requested, std::string default_name) {
    return outcome_of(route({std::move(requested), {}, std::move(default_name), {}, excluded}))
        .decision_reason;
  };
  CHECK(reason({}, "") == "the model b cannot be used: set B_KEY");
  CHECK(reason({}, "c") == "the model c cannot be used: set C_KEY");
  CHECK(reason("c", "b") == "the model c cannot be used: set C_KEY");
  CHECK(reason("a", "b") == "there is no model a");
}

TEST_CASE("without a candidate, or without the one asked for, routing is not possible") {
  const RoutingAnswer none = route({});
  REQUIRE(std::holds_alternative<RoutingNotPossible>(none));
  CHECK(outcome_of(none).requires_user_override);
  CHECK(outcome_of(none).candidate_count == 0);
  CHECK_FALSE(outcome_of(none).selected_name.has_value());

  const RoutingAnswer unknown = route({"x", {candidate("a")}, "a", {}});
  REQUIRE(std::holds_alternative<RoutingNotPossible>(unknown));
  CHECK(outcome_of(unknown).decision_reason == "there is no model x (configured: a)");
  const RoutingAnswer many = route({"x", std::vector<Candidate>(21, candidate("a")), "a", {}});
  CHECK(outcome_of(many).decision_reason.ends_with(", a and others)"));
  CHECK(outcome_of(unknown).requested_model == "x");
  CHECK_FALSE(outcome_of(unknown).selected_name.has_value());
}

TEST_CASE("a model that the turn names is locked, unless the turn names a chain of its own") {
  ReportPrepared report;
  report.candidates = {candidate("a"), candidate("b"), candidate("c")};
  report.default_model = "a";
  report.fallback = {"b"};
  const auto chain = [&](std::optional<std::string> model, std::optional<Names> fallback) {
    TurnOptions options;
    options.model = std::move(model);
    options.fallback = std::move(fallback);
    return outcome_of(route(question_of(options, {}, report))).fallback_chain;
  };
  CHECK(chain({}, {}) == Names{"b"});
  CHECK(chain({}, Names{"c"}) == Names{"c"});
  CHECK(chain({}, Names{}) == Names{});
  CHECK(chain("a", {}) == Names{});
  CHECK(chain("a", Names{"c", "c"}) == Names{"c"});
}

TEST_CASE("a turn keeps the model that it has switched to, with the rest of the chain") {
  RoutingQuestion question{
      {}, {candidate("a"), candidate("b"), candidate("c")}, "a", {"b", "c"}, {}, "b"};
  const RoutingAnswer answer = route(question);
  CHECK(outcome_of(answer).selected_name == "b");
  CHECK(outcome_of(answer).decision_reason == "the turn has switched to it");
  CHECK(outcome_of(answer).fallback_chain == Names{"c"});
  question.switched = "gone";
  CHECK(outcome_of(route(question)).selected_name == "a");
}

}  // namespace agentrt::policy
