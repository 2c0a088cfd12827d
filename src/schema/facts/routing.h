// schema/facts/routing.h: the models that a turn could have used, the one selected, and the reason.
#pragma once

#include "schema/facts/model.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct TaskProfileResolved {
  static constexpr std::string_view kType = "task.profile.resolved";
  using Scope = TaskScope;
  std::string kind;    // chat
  std::string source;  // user
  std::vector<std::string> required_capabilities;
  std::string latency_target;
  std::string budget_class;
  std::string fallback_policy;
  std::string settings_source;

  bool operator==(const TaskProfileResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskProfileResolved, (),
                      (kind, source, required_capabilities, latency_target, budget_class,
                       fallback_policy, settings_source))

struct Candidate {
  std::string name;
  std::string provider;
  std::string model;
  std::vector<std::string> capabilities;
  std::optional<std::uint64_t> context_tokens;

  bool operator==(const Candidate&) const = default;
};
BOOST_DESCRIBE_STRUCT(Candidate, (), (name, provider, model, capabilities, context_tokens))

struct ExcludedCandidate {
  std::string name;
  // credential, quota, capability, context_size, network, policy, unknown_model
  std::string reason;
  std::optional<std::string> remedy;  // how to make it usable: set OPENAI_API_KEY

  bool operator==(const ExcludedCandidate&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExcludedCandidate, (), (name, reason, remedy))

struct RoutingCandidatesResolved {
  static constexpr std::string_view kType = "routing.candidates.resolved";
  using Scope = TurnScope;
  std::uint64_t candidate_count = 0;
  std::vector<Candidate> candidates;
  std::vector<ExcludedCandidate> excluded;
  std::vector<std::string> hard_constraints;
  std::vector<std::string> preferences;
  // Of the configuration, without what the turn names: inputs of the decision that follows.
  std::optional<std::string> default_model = {};
  std::optional<std::vector<std::string>> fallback = {};

  bool operator==(const RoutingCandidatesResolved&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingCandidatesResolved, (),
                      (candidate_count, candidates, excluded, hard_constraints, preferences,
                       default_model, fallback))

// The members common to all routing outcomes; each of three fact types carries them.
struct RoutingOutcome {
  std::string routing_mode;     // single_candidate, preferred, fallback, not_possible
  std::string decision_source;  // request, configuration
  std::string decision_reason;
  std::optional<std::string> selected_provider;
  std::optional<std::string> selected_model;
  std::optional<std::string> selected_name;
  std::optional<std::string> requested_model;
  std::uint64_t candidate_count = 0;
  std::vector<std::string> fallback_chain;
  std::vector<std::string> capability_gap;
  bool requires_user_override = false;

  bool operator==(const RoutingOutcome&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingOutcome, (),
                      (routing_mode, decision_source, decision_reason, selected_provider,
                       selected_model, selected_name, requested_model, candidate_count,
                       fallback_chain, capability_gap, requires_user_override))

struct RoutingDecided : RoutingOutcome {
  static constexpr std::string_view kType = "routing.decided";
  using Scope = TurnScope;
  bool operator==(const RoutingDecided&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingDecided, (RoutingOutcome), ())

// The turn continues with the next model of its fallback chain, until it ends.
struct RoutingFallbackApplied : RoutingOutcome {
  static constexpr std::string_view kType = "routing.fallback.applied";
  using Scope = TurnScope;
  std::optional<std::string> from_name;
  std::optional<std::string> from_provider;
  std::optional<std::string> from_model;
  std::optional<FaultCause> cause;
  std::optional<ModelRequestId> failed_request_id;

  bool operator==(const RoutingFallbackApplied&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingFallbackApplied, (RoutingOutcome),
                      (from_name, from_provider, from_model, cause, failed_request_id))

struct RoutingSingleCandidate : RoutingOutcome {
  static constexpr std::string_view kType = "routing.single_candidate";
  using Scope = TurnScope;
  bool operator==(const RoutingSingleCandidate&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingSingleCandidate, (RoutingOutcome), ())

struct RoutingNotPossible : RoutingOutcome {
  static constexpr std::string_view kType = "routing.not_possible";
  using Scope = TurnScope;
  bool operator==(const RoutingNotPossible&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingNotPossible, (RoutingOutcome), ())

}  // namespace agentrt::schema
