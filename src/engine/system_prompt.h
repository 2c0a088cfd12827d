// engine/system_prompt.h: what every model is told about where it works, before anything else.
#pragma once

#include <string>
#include <vector>

#include "ports/workspace.h"

namespace agentrt::engine {

// Short on purpose: what a workspace wants beyond it stands in its AGENTS.md. It holds nothing that
// changes from one request to the next, so that providers can cache it.
std::string system_prompt(const std::string& cwd);

// The skills, a line each; empty where there are none.
std::string skills_index(const std::vector<ports::Skill>& skills);

}  // namespace agentrt::engine
