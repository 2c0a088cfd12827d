// policy/modes.h: the verdict of the permission mode on one call. judge() (permission.h) combines
// it with the verdicts of rules and hooks.
//
// A mode asks about a shell text unless the mode allows commands. For a file tool, its verdict
// depends on the location of the path. A mode's ask is the weakest verdict; a deny by the mode plan
// also overrides allow rules.
//
// PURE. Safe on any thread.
#pragma once

#include <string_view>

#include "policy/permission.h"

namespace agentrt::policy {

schema::Verdict shell_mode_verdict(const Effective& policy);
// For every tool except shell.
schema::Verdict tool_mode_verdict(const Asked& asked, const Effective& policy);

// For a shell command that is to run outside the sandbox.
schema::Verdict leaving_mode_verdict(const Effective& policy);

// Whether a path contains `..`. Its target then depends on symlinks and cannot be determined from
// the text.
bool climbs(std::string_view path);

}  // namespace agentrt::policy
