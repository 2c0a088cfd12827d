// policy/routing.h: selects the model for a turn and gives the reason. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/facts/routing.h"

namespace agentrt::policy {

struct RoutingQuestion {
  std::optional<std::string> requested;  // a candidate's name, requested by the turn
  std::vector<schema::Candidate> candidates;
  std::string default_name;
  std::vector<std::string> fallback;
  // Unusable candidates, for the message if none is left.
  std::vector<schema::ExcludedCandidate> excluded = {};
};

using RoutingAnswer = std::variant<schema::RoutingDecided, schema::RoutingSingleCandidate,
                                   schema::RoutingNotPossible>;

// Selects a candidate. The result says if there was only one, or if there is none (also: none of
// the requested name).
RoutingAnswer route(const RoutingQuestion& question);

// The members that all results share.
const schema::RoutingOutcome& outcome_of(const RoutingAnswer& answer);

}  // namespace agentrt::policy
