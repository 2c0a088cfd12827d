// policy/claude_names.h: translates event, tool and argument names and matchers of Claude Code.
//
// The names of tools and arguments come from the tools' descriptors (tools/registry.h). An event or
// matcher without a counterpart gives nullopt; `agentrt doctor` reports the file that uses it.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/policy.h"
#include "tools/tool.h"

namespace agentrt::policy {

// Maps a Claude Code event (PreToolUse, …) to a hook point, and back.
std::optional<schema::HookPoint> point_of_event(std::string_view event);
std::string_view event_of_point(schema::HookPoint point);

// Claude Code's names for one of our tools, the usual one first; our name if it has no such tool.
std::vector<std::string_view> names_for_claude(std::string_view tool);

// The arguments that one of our tools and its counterpart have in common.
std::span<const tools::NamePair> arguments_for_claude(std::string_view tool);

// Our tool for the tool name in a rule of Claude Code. Nothing: there is none, or its rules could
// name only the whole arguments (RuleForm::arguments), which the two programs write differently.
std::optional<std::string_view> tool_in_claude_rules(std::string_view name);

// Translates a Claude Code matcher, a regular expression, to our pattern syntax. The result may
// match more names, never fewer, because a guarding hook must not be skipped. nullopt: our syntax
// cannot express it.
std::optional<std::string> matcher_of_claude(std::string_view expression);

}  // namespace agentrt::policy
