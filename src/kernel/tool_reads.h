// kernel/tool_reads.h: the answer to get_tool_inventory: the tools of a session, each with the
// decision that its calls get under the current policy files.
#pragma once

#include "control/decide.h"
#include "ports/policies.h"
#include "store/store.h"

namespace agentrt::kernel {

// `view`: the session, or an empty view with the folder that a new session would have. MCP servers
// are not asked: their tools are those of the session's newest stored catalogue. Without `policies`
// the policy is that of the view. Blocks; runs on a worker. Errors: those of ports::Policies and of
// the store.
Result<std::string> tool_inventory(store::Store& store, ports::Policies* policies,
                                   state::Session view, const control::Settings& settings);

}  // namespace agentrt::kernel
