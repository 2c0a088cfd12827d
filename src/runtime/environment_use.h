// runtime/environment_use.h: whether the object that an environment was stored for still needs it,
// and the environments that another owner of the data folder held.
#pragma once

#include <string>

#include "ports/client_environments.h"
#include "store/store.h"

namespace agentrt::runtime {

// Whether the id is that of a turn, task, job or subagent that has not ended. True also if the
// store cannot be read. Blocks.
bool has_not_ended(store::Store& store, const std::string& id);

// The JSON of ports::HeldEnvironments, as the previous owner supplied it; none if it is unreadable.
ports::HeldEnvironments read_held(const std::string& text);

}  // namespace agentrt::runtime
