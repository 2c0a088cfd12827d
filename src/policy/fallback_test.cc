// policy/fallback_test.cc: tests which model is asked after another one has failed.
#include "policy/fallback.h"

#include <doctest/doctest.h>

namespace agentrt::policy {

using namespace schema;

namespace {

Candidate candidate(const std::string& name, std::optional<std::uint64_t> window = {}) {
  return {.name = name, .provider = "acme", .model = name, .context_tokens = window};
}

const std::vector<Candidate> kModels = {candidate("small", 8'000), candidate("plain"),
                                        candidate("large", 200'000)};

std::string next_after(const std::string& model, std::optional<FaultCause> cause,
                       const std::vector<std::string>& chain) {
  const Candidate* next = next_model({model, cause}, chain, kModels);
  return next ? next->name : "";
}

}  // namespace

TEST_CASE("the first model of the chain that is a candidate comes next") {
  for (const FaultCause cause :
       {FaultCause::server, FaultCause::overloaded, FaultCause::connection, FaultCause::timeout,
        FaultCause::stalled, FaultCause::empty, FaultCause::malformed, FaultCause::rate_limit,
        FaultCause::no_credit, FaultCause::credential, FaultCause::unknown_model}) {
    CAPTURE(name_of(cause));
    CHECK(next_after("plain", cause, {"gone", "small", "large"}) == "small");
  }
  CHECK(next_after("plain", FaultCause::server, {}).empty());
  CHECK(next_after("plain", FaultCause::server, {"gone"}).empty());
}

TEST_CASE("no other model is asked what every model would refuse, or after the runtime gave up") {
  CHECK(next_after("plain", FaultCause::content, {"large"}).empty());
  CHECK(next_after("plain", FaultCause::invalid, {"large"}).empty());
  CHECK(next_after("plain", std::nullopt, {"large"}).empty());
}

TEST_CASE("a request that is too long goes only to a model with a larger context") {
  CHECK(next_after("plain", FaultCause::context_size, {"small", "large"}) == "large");
  CHECK(next_after("small", FaultCause::context_size, {"plain", "large"}) == "plain");
  CHECK(next_after("large", FaultCause::context_size, {"small", "plain"}).empty());
}

TEST_CASE("a rate limit is waited for up to five seconds if another model could answer") {
  CHECK_FALSE(prefers_next({"plain", FaultCause::rate_limit}));
  CHECK_FALSE(prefers_next({"plain", FaultCause::rate_limit, 5'000}));
  CHECK(prefers_next({"plain", FaultCause::rate_limit, 5'001}));
  CHECK_FALSE(prefers_next({"plain", FaultCause::overloaded, 60'000}));
}

TEST_CASE("the reason for a switch is a clause about the model") {
  CHECK(clause_of(FaultCause::rate_limit) == "is rate-limited");
  for (const FaultCause cause : {FaultCause::server, FaultCause::context_size, FaultCause::invalid})
    CHECK_FALSE(clause_of(cause).empty());
}

}  // namespace agentrt::policy
