// policy/shell_rules.h: what the rules say about a shell text, command by command.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rules.h"
#include "schema/facts/permission.h"

namespace agentrt::policy {

// Adds a verdict for each rule that denies or asks about a command of the text, one for what such a
// rule might find in what cannot be resolved, and one when the allow rules cover everything. A text
// beyond the limits is denied. Returns what the allow rules do not cover, if anything.
std::optional<std::string> ask_shell_rules(std::string_view text, const shell::Analysis& analysis,
                                           const Rules& rules, std::vector<schema::Verdict>& chain);

// The verdict of one rule; a managed rule is the host's word.
schema::Verdict rule_verdict(const Rule& rule, schema::Decision decision, std::string reason);

}  // namespace agentrt::policy
