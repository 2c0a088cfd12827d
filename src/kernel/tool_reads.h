// kernel/tool_reads.h: the tools that a session has under the current policy of its files.
#pragma once

#include "control/decide.h"
#include "ports/policies.h"
#include "store/store.h"

namespace agentrt::kernel {

// `view`: the session, or an empty view with the folder that a new session would have. Blocks; runs
// on a worker.
Result<std::string> tool_inventory(store::Store& store, ports::Policies* policies,
                                   state::Session view, const control::Settings& settings);

}  // namespace agentrt::kernel
