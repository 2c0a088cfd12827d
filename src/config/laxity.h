// config/laxity.h: compares how much two modes permit. Pure.
#pragma once

#include "schema/statuses.h"

namespace agentrt::config {

// Whether `a` permits nothing that `b` does not permit. False if the modes are not comparable.
bool at_most_as_lax(schema::PermissionMode a, schema::PermissionMode b);
bool at_most_as_lax(schema::SandboxMode a, schema::SandboxMode b);

}  // namespace agentrt::config
