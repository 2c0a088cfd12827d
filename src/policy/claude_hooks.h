// policy/claude_hooks.h: translates hook input and answers for hooks written for Claude Code.
//
// Pure. Such a hook gets the tool names and arguments that it expects, and its answers follow
// Claude Code's rules.
#pragma once

#include <string>

#include "policy/hooks.h"

namespace agentrt::policy {

// The JSON that the hook reads on standard input.
std::string claude_input(const schema::HookInput& input);
// Decodes the standard output of a hook that exited with 0. Output that is no JSON object is added
// to the context at session_start and user_prompt_submit, and ignored at other points. An invalid
// object becomes a failure.
schema::HookOutcome claude_answer(const schema::HookSpec& hook, const schema::HookInput& input,
                                  const std::string& out);
// Whether exit status 2 blocks the action at this point. At other points its message is only shown
// to the user.
bool claude_blocks_at(schema::HookPoint point);

}  // namespace agentrt::policy
