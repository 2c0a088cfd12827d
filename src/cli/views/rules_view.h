// cli/views/rules_view.h: the permission rules in force, as a list for a person. Pure.
#pragma once

#include <string>

#include "cli/views/call_view.h"
#include "schema/commands/actions.h"

namespace agentrt::cli {

// The mode and its source, then each rule with its effect, its source and when it was granted.
std::string rules_text(const schema::RulesReply& rules, Timestamp now, Paper paper);

}  // namespace agentrt::cli
