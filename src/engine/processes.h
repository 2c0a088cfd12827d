// engine/processes.h: the processes in the background that a view calls for. Pure.
//
// A call's process and, once the call has ended, the one that goes on in the background are one
// effect: they have one key, and whoever runs the first follows the second.
#pragma once

#include "engine/plan.h"

namespace agentrt::engine {

// One process a call: the same call, made again after nothing ran, is the same process. One that
// the sandbox stopped runs outside as another.
ProcessId process_of(const state::ToolCall& call);
std::string key_of(const ProcessId& process);

std::vector<Effect> follow_processes(const state::Session& view);

}  // namespace agentrt::engine
