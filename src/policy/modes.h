// policy/modes.h: the verdict of the permission mode, which decides when no rule applies.
//
// A shell text needs a rule, or a mode that allows commands. A file tool is judged by the location
// of its path.
//
// PURE. Safe on any thread.
#pragma once

#include <string_view>

#include "policy/permission.h"

namespace agentrt::policy {

schema::Verdict shell_mode_verdict(const Effective& policy);
schema::Verdict tool_mode_verdict(const Asked& asked, const Effective& policy);

// The same for a command that is to leave the sandbox.
schema::Verdict leaving_mode_verdict(const Effective& policy);

// Whether a path contains `..`. Its target then depends on symlinks and cannot be determined from
// the text.
bool climbs(std::string_view path);

}  // namespace agentrt::policy
