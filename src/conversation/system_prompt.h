// conversation/system_prompt.h: the system prompt that every model receives first.
#pragma once

#include <string>
#include <vector>

#include "ports/workspace.h"

namespace agentrt::conversation {

// Short on purpose: a workspace adds its own rules in AGENTS.md. It is the same for every request,
// so that providers can cache it.
std::string system_prompt(const std::string& cwd);

// The list of skills, one line each; empty if there are none.
std::string skills_index(const std::vector<ports::Skill>& skills);

}  // namespace agentrt::conversation
