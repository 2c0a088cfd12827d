// kernel/tool_reads.h: which tools a session has, under the policy as its files say it now.
#pragma once

#include "control/decide.h"
#include "ports/policies.h"
#include "store/store.h"

namespace agentrt::kernel {

// `view`: the session; of none, an empty one with the folder that a new one would have. Blocks;
// runs on a worker.
Result<std::string> tool_inventory(store::Store& store, ports::Policies* policies,
                                   state::Session view);

}  // namespace agentrt::kernel
