// policy/modes.h: what a permission mode says where no rule speaks.
//
// Shell texts and other tools are asked separately: a shell text always needs a rule or a mode that
// lets commands run, a file tool is judged by where its path lies.
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

// Whether a path has `..` in it: where it leads then is not told by its letters.
bool climbs(std::string_view path);

}  // namespace agentrt::policy
