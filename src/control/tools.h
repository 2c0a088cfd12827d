// control/tools.h: the calls of tools that a turn makes: which may run, in which order, and how
// each ends.
#pragma once

#include "control/turn_facts.h"

namespace agentrt::control {

// Starts the next of `calls` that may run; those that may not are refused on the way. When none is
// left the model is asked again, with what came of them. A call that has started already is left to
// go on.
void go_on_with_tools(Facts& facts, const Thread& thread, std::vector<state::ToolCall> calls,
                      FreshIds& ids, const Inputs& inputs);

// The tools that a turn in this mode has, and what a call of each gets.
schema::ToolCatalogResolved tool_catalog(schema::PermissionMode mode, const Settings& settings);

// Ends what has started: the turn is over before its calls are.
void close_tools(Facts& facts, const Turn& turn, const schema::Failure& error, const BootId& boot);

}  // namespace agentrt::control
