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

// The rest of the chain: after a switch, only the models after the current one.
std::vector<std::string> chain_of(const RoutingQuestion& question, const Candidate& chosen) {
  auto from = question.fallback.begin();
  if (question.switched == chosen.name) {
    const auto at = std::ranges::find(question.fallback, chosen.name);
    if (at != question.fallback.end()) from = std::next(at);
  }
  std::vector<std::string> chain;
  for (const std::string& name : std::ranges::subrange(from, question.fallback.end()))
    if (name != chosen.name && named(question.candidates, name) &&
        std::ranges::find(chain, name) == chain.end())
      chain.push_back(name);
  return chain;
}

std::string reason_of(const RoutingQuestion& question, const Candidate& chosen) {
  if (question.switched == chosen.name) return "the turn has switched to it";
  if (question.requested) return "the turn asked for it";
  return chosen.name == question.default_name ? "it is the configured default"
                                              : "it is the first model available";
}

}  // namespace

RoutingQuestion question_of(const TurnOptions& options, std::optional<std::string> switched,
                            const ReportPrepared& report) {
  RoutingQuestion question{.requested = options.model,
                           .candidates = report.candidates,
                           .default_name = report.default_model,
                           .fallback = {},
                           .excluded = report.excluded,
                           .switched = std::move(switched)};
  if (options.fallback)
    question.fallback = *options.fallback;
  else if (!options.model)
    question.fallback = report.fallback;
  return question;
}

RoutingAnswer route(const RoutingQuestion& question) {
  RoutingOutcome outcome;
  outcome.decision_source = question.requested ? "request" : "configuration";
  outcome.requested_model = question.requested;
  outcome.candidate_count = question.candidates.size();
  const std::string& wanted = question.requested ? *question.requested : question.default_name;
  if (question.candidates.empty())
    return not_possible(std::move(outcome), why_none(question, wanted));

  const Candidate* chosen =
      question.switched ? named(question.candidates, *question.switched) : nullptr;
  if (!chosen && !wanted.empty()) chosen = named(question.candidates, wanted);
  if (question.requested && !chosen)
    return not_possible(std::move(outcome), why_none(question, wanted));
  if (!chosen) chosen = &question.candidates.front();
  select(outcome, *chosen);
  outcome.fallback_chain = chain_of(question, *chosen);

  if (question.candidates.size() == 1) {
    outcome.routing_mode = "single_candidate";
    outcome.decision_reason = "it is the only model available";
    return RoutingSingleCandidate{std::move(outcome)};
  }
  outcome.routing_mode = "preferred";
  outcome.decision_reason = reason_of(question, *chosen);
  return RoutingDecided{std::move(outcome)};
}

const RoutingOutcome& outcome_of(const RoutingAnswer& answer) {
  return std::visit([](const RoutingOutcome& outcome) -> const RoutingOutcome& { return outcome; },
                    answer);
}

}  // namespace agentrt::policy
