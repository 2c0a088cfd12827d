// policy/routing.h: selects the model for a turn and gives the reason. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/facts/routing.h"
#include "schema/reports.h"

namespace agentrt::policy {

struct RoutingQuestion {
  std::optional<std::string> requested;  // a candidate's name, requested by the turn
  std::vector<schema::Candidate> candidates;
  std::string default_name;           // the configured default; may be empty
  std::vector<std::string> fallback;  // names to try in this order if the selected model fails
  // Configured models that cannot be used, for the message if no model can be selected.
  std::vector<schema::ExcludedCandidate> excluded = {};
  // The model that the turn has switched to after a failure. It keeps it, also after a restart.
  std::optional<std::string> switched = {};
};
// The question for a turn with these options. A model that the turn names is locked: the configured
// fallback chain does not apply to it, only one that the turn names too.
RoutingQuestion question_of(const schema::TurnOptions& options, std::optional<std::string> switched,
                            const schema::ReportPrepared& report);

using RoutingAnswer = std::variant<schema::RoutingDecided, schema::RoutingSingleCandidate,
                                   schema::RoutingNotPossible>;

// Selects the model that the turn has switched to, if it is still a candidate; otherwise the
// requested one. Without a request: the default, or the first candidate if the default is not one.
// RoutingSingleCandidate: there was only one. RoutingNotPossible: there is none, or none with the
// requested name; its reason says what to do.
RoutingAnswer route(const RoutingQuestion& question);

// The members that all results share.
const schema::RoutingOutcome& outcome_of(const RoutingAnswer& answer);

}  // namespace agentrt::policy
