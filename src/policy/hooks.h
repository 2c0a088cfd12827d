// policy/hooks.h: which hooks a point calls, what they are told, and what their answers mean.
//
// Pure. Two dialects meet here: our own words, and those of the hook files that people have for
// Claude Code (policy/claude_hooks.h). Nothing outside these two files knows the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/hooks.h"

namespace agentrt::policy {

// The point concerns one tool call, so that a matcher makes sense there.
bool concerns_a_tool(schema::HookPoint point);

// The hook is to run at `point`. `subject` is the tool's name where the point concerns one, the
// source at session_start, else empty.
bool hook_applies(const schema::HookSpec& hook, schema::HookPoint point, std::string_view subject);

// Names with * for any characters, | between them: shell|mcp__files__*. Empty: every name.
bool matches(std::string_view matcher, std::string_view name);
// The text can be a matcher of our own dialect.
bool is_matcher(std::string_view text);

// The one JSON object that the hook reads.
std::string hook_input(const schema::HookInput& input, schema::HookDialect dialect);

// How a command ended that was not stopped by us, and what it wrote.
struct HookEnd {
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::string out;  // whole
  std::string err;  // its beginning
};

// Exit 0: what it wrote counts. Exit 2: it blocks, and says why on standard error. Any other end,
// and an answer that cannot be read, is a failure.
schema::HookOutcome hook_outcome(const schema::HookSpec& hook, const schema::HookInput& input,
                                 const HookEnd& end);

}  // namespace agentrt::policy
