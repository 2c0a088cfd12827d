// engine/system_prompt.h: what every model is told about where it works, before anything else.
#pragma once

#include <string>

namespace agentrt::engine {

// Short on purpose: what a workspace wants beyond it stands in its AGENTS.md. It holds nothing that
// changes from one request to the next, so that providers can cache it.
std::string system_prompt(const std::string& cwd);

}  // namespace agentrt::engine
