#include "policy/routing.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace agentrt::policy {
namespace {

constexpr std::size_t kNamedMax = 20;  // model names listed in one message

using namespace schema;

const Candidate* named(const std::vector<Candidate>& candidates, const std::string& name) {
  const auto at = std::ranges::find(candidates, name, &Candidate::name);
  return at == candidates.end() ? nullptr : &*at;
}

RoutingNotPossible not_possible(RoutingOutcome outcome, std::string reason) {
  outcome.routing_mode = "not_possible";
  outcome.decision_reason = std::move(reason);
  outcome.requires_user_override = true;
  return {std::move(outcome)};
}

// Lists the known models, so that a typing mistake is visible.
std::string unknown_model(const RoutingQuestion& question) {
  std::string known;
  for (const Candidate& candidate : question.candidates | std::views::take(kNamedMax))
    known += (known.empty() ? "" : ", ") + candidate.name;
  if (question.candidates.size() > kNamedMax) known += " and others";
  return fmt::format("there is no model {}{}", *question.requested,
                     known.empty() ? "" : fmt::format(" (configured: {})", known));
}

// The remedy for an excluded candidate: the requested one, or the default, or the first.
std::string why_none(const RoutingQuestion& question, const std::string& wanted) {
  const ExcludedCandidate* blamed = nullptr;
  for (const ExcludedCandidate& one : question.excluded)
    if (one.remedy && (!blamed || one.name == wanted) &&
        (!question.requested || one.name == wanted))
      blamed = &one;
  if (blamed) return fmt::format("the model {} cannot be used: {}", blamed->name, *blamed->remedy);
  return question.requested ? unknown_model(question) : std::string("no model is configured");
}

void select(RoutingOutcome& outcome, const Candidate& candidate) {
  outcome.selected_name = candidate.name;
  outcome.selected_provider = candidate.provider;
  outcome.selected_model = candidate.model;
}

}  // namespace

RoutingAnswer route(const RoutingQuestion& question) {
  RoutingOutcome outcome;
  outcome.decision_source = question.requested ? "request" : "configuration";
  outcome.requested_model = question.requested;
  outcome.candidate_count = question.candidates.size();
  const std::string& wanted = question.requested ? *question.requested : question.default_name;
  if (question.candidates.empty())
    return not_possible(std::move(outcome), why_none(question, wanted));

  const Candidate* chosen = wanted.empty() ? nullptr : named(question.candidates, wanted);
  if (question.requested && !chosen)
    return not_possible(std::move(outcome), why_none(question, wanted));
  if (!chosen) chosen = &question.candidates.front();
  select(outcome, *chosen);
  for (const std::string& name : question.fallback)
    if (name != chosen->name && named(question.candidates, name))
      outcome.fallback_chain.push_back(name);

  if (question.candidates.size() == 1) {
    outcome.routing_mode = "single_candidate";
    outcome.decision_reason = "it is the only model available";
    return RoutingSingleCandidate{std::move(outcome)};
  }
  outcome.routing_mode = "preferred";
  outcome.decision_reason = question.requested       ? "the turn asked for it"
                            : chosen->name == wanted ? "it is the configured default"
                                                     : "it is the first model available";
  return RoutingDecided{std::move(outcome)};
}

const RoutingOutcome& outcome_of(const RoutingAnswer& answer) {
  return std::visit([](const RoutingOutcome& outcome) -> const RoutingOutcome& { return outcome; },
                    answer);
}

}  // namespace agentrt::policy
