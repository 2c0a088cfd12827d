// runtime/laxity.h: which of two modes permits more. Pure.
#pragma once

#include "schema/statuses.h"

namespace agentrt::runtime {

// Whether `a` permits nothing that `b` would not; some modes cannot be compared, and then it is no.
bool at_most_as_lax(schema::PermissionMode a, schema::PermissionMode b);
bool at_most_as_lax(schema::SandboxMode a, schema::SandboxMode b);

}  // namespace agentrt::runtime
