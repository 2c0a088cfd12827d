// policy/routing.h: which model a turn gets, as a pure choice that explains itself.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/facts/routing.h"

namespace agentrt::policy {

struct RoutingQuestion {
  std::optional<std::string> requested;  // by the turn, a candidate's name
  std::vector<schema::Candidate> candidates;
  std::string default_name;
  std::vector<std::string> fallback;
  std::vector<schema::ExcludedCandidate> excluded = {};  // to say why there is none
};

using RoutingAnswer = std::variant<schema::RoutingDecided, schema::RoutingSingleCandidate,
                                   schema::RoutingNotPossible>;

// One candidate is a path of its own; none, or none of the requested name, is not possible.
RoutingAnswer route(const RoutingQuestion& question);

// The members that every answer has.
const schema::RoutingOutcome& outcome_of(const RoutingAnswer& answer);

}  // namespace agentrt::policy
