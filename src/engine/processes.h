// engine/processes.h: plans the background processes that a view calls for. Pure.
//
// A call's process and, after the call has ended, the same process in the background are one effect
// with one key. The effect that runs the process also follows it in the background.
#pragma once

#include "engine/plan.h"

namespace agentrt::engine {

// The process id of a call. A call that is repeated because nothing ran has the same process. A
// command that the sandbox stopped and that then runs outside it gets another.
ProcessId process_of(const state::ToolCall& call);
std::string key_of(const ProcessId& process);

std::vector<Effect> follow_processes(const state::Session& view);

}  // namespace agentrt::engine
