// policy/claude_hooks.h: the words of hook files that were written for Claude Code.
//
// Pure. Tools get the names and arguments that such a hook expects, and its answers are read by its
// own rules.
#pragma once

#include <string>

#include "policy/hooks.h"

namespace agentrt::policy {

// What a hook of theirs reads.
std::string claude_input(const schema::HookInput& input);
// What was written by a hook that exited with 0.
schema::HookOutcome claude_answer(const schema::HookSpec& hook, const schema::HookInput& input,
                                  const std::string& out);
// An exit status of 2 stops what the point is about; at the others it is only told to the person.
bool claude_blocks_at(schema::HookPoint point);

}  // namespace agentrt::policy
