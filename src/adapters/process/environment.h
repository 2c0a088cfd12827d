// adapters/process/environment.h: records the execution environment (machine and sandbox profile)
// of a command.
#pragma once

#include "schema/environment.h"

namespace agentrt::adapters {

schema::ExecutionEnvironment environment_of(const schema::SandboxProfile& profile);

}  // namespace agentrt::adapters
