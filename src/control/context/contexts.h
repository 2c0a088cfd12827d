// control/context/contexts.h: what a turn's context.resolved and tool.catalog.resolved record about
// its model requests: their size, whether they start like the last one, and what is unchanged.
#pragma once

#include "control/decisions.h"
#include "schema/facts.h"

namespace agentrt::control {

struct RequestParts {
  const schema::ReportPrepared& report;
  const schema::RoutingOutcome& routing;
  const schema::ToolCatalogResolved& catalog;  // complete
  const Thread& thread;
  const Turn& turn;
  const Settings& settings;
};

// Sets `tokens` and `prefix`.
void describe_request(const RequestParts& parts, schema::ContextResolved& context);

// The environment as the turn records it: in full, or as the ref of the same one.
schema::RecordedEnvironment environment_of(const schema::ExecutionEnvironment& environment,
                                           const Thread& thread);

// The catalogue with its digests, or as the ref of the same one. REQUIRES: it is complete.
schema::ToolCatalogResolved without_repetition(schema::ToolCatalogResolved catalog,
                                               const Session& view);

}  // namespace agentrt::control
