// policy/claude_names.h: events, tools and matchers of Claude Code, and ours that they stand for.
//
// Pure tables. An event or a matcher without a counterpart is nothing here; whoever reads a file
// that names it says so (`agentrt doctor`).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/policy.h"

namespace agentrt::policy {

// The point that an event (PreToolUse, …) stands for, and back.
std::optional<schema::HookPoint> point_of_event(std::string_view event);
std::string_view event_of_point(schema::HookPoint point);

// Their names for a tool of ours, the usual one first; a tool that they do not have keeps its own.
std::vector<std::string_view> names_for_claude(std::string_view tool);

// A member of a tool's arguments, in our words and in theirs.
using ToolMember = std::pair<std::string_view, std::string_view>;
std::span<const ToolMember> members_for_claude(std::string_view tool);

// Their matcher, a regular expression, as one of ours. Nothing: it says more than ours can.
std::optional<std::string> matcher_of_claude(std::string_view expression);

}  // namespace agentrt::policy
