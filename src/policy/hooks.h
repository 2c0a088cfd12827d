// policy/hooks.h: decides which hooks run at a point, builds their input and decodes their answers.
//
// Pure. There are two dialects: our own, and that of hook files written for Claude Code
// (policy/claude_hooks.h). No code outside these two files depends on the dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/hooks.h"

namespace agentrt::policy {

// Whether the point is about one tool call. Only then can a hook have a matcher.
bool concerns_a_tool(schema::HookPoint point);

// Whether the hook runs at `point`. `subject` is the tool's name if the point is about a tool call,
// the source at session_start, and empty otherwise.
bool hook_applies(const schema::HookSpec& hook, schema::HookPoint point, std::string_view subject);

// A matcher is a list of names separated by |, with * for any characters: shell|mcp__files__*. An
// empty matcher matches every name.
bool matches(std::string_view matcher, std::string_view name);
// Whether the text is a valid matcher of our dialect.
bool is_matcher(std::string_view text);

// The JSON object that the hook reads on standard input.
std::string hook_input(const schema::HookInput& input, schema::HookDialect dialect);

// How a hook's process ended, if the runtime did not kill it, and its output.
struct HookEnd {
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::string out;  // complete standard output
  std::string err;  // the first part of standard error
};

// Exit 0: standard output is the answer; empty: no objection. Exit 2: the hook blocks, and standard
// error is the reason; at a point where nothing can be blocked, it is a message to the user. Any
// other end, or an invalid answer, is a failure.
schema::HookOutcome hook_outcome(const schema::HookSpec& hook, const schema::HookInput& input,
                                 const HookEnd& end);

}  // namespace agentrt::policy
