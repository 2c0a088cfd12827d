// runtime/claude_settings.h: settings that were written for Claude Code, as hooks and rules of
// ours.
//
// These files belong to another program and hold much that is not ours to judge, so members that
// are not known are passed over. What would run something and has no counterpart here is named, so
// that nobody counts on it (`agentrt doctor` shows the names). A file that is no JSON, or whose
// hooks have another shape, is an error: it might have stopped something.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/policy.h"

namespace agentrt::runtime {

// A permission rule of theirs in our words; nothing where there is no counterpart.
using RuleReader = std::optional<std::string> (*)(std::string_view rule);

struct ClaudeSettings {
  std::vector<schema::HookSpec> hooks;
  std::vector<schema::PolicyRule> rules;
  std::vector<std::string> unmapped;  // what has no counterpart, in words
};

// The text of the file at `path`. invalid_params: it names file and member.
Result<ClaudeSettings> read_claude_settings(const std::string& text, const std::string& path,
                                            schema::RuleOrigin origin, RuleReader rule_of);

}  // namespace agentrt::runtime
