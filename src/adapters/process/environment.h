// adapters/process/environment.h: what this machine and a profile give to commands, as a record.
#pragma once

#include "schema/environment.h"

namespace agentrt::adapters {

schema::ExecutionEnvironment environment_of(const schema::SandboxProfile& profile);

}  // namespace agentrt::adapters
