// config/claude_settings.h: converts settings files of Claude Code to hooks and rules of this
// runtime.
//
// These files belong to another program, so unknown members are ignored. Hooks and rules without a
// counterpart here are listed by name, so that users do not rely on them (`agentrt doctor` prints
// the names). A file that is not JSON, or whose hooks have an unexpected shape, is an error:
// ignoring it might disable a guard.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/policy.h"

namespace agentrt::config {

// Translates a Claude Code permission rule; nullopt if there is no counterpart.
using RuleReader = std::optional<std::string> (*)(std::string_view rule);

struct ClaudeSettings {
  std::vector<schema::HookSpec> hooks;
  std::vector<schema::PolicyRule> rules;
  std::vector<std::string> unmapped;  // descriptions of entries without a counterpart
};

// Parses `text`, read from the file `path`. Fails with invalid_params, naming file and member.
Result<ClaudeSettings> read_claude_settings(const std::string& text, const std::string& path,
                                            schema::RuleOrigin origin, RuleReader rule_of);

}  // namespace agentrt::config
