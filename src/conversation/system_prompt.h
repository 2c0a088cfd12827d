// conversation/system_prompt.h: the system prompt that every model receives first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ports/workspace.h"

namespace agentrt::conversation {

// How context.resolved names the texts of the runtime itself.
inline constexpr std::string_view kSystemPromptRef = "builtin:system_prompt";
inline constexpr std::string_view kSkillsRef = "builtin:skills";
inline constexpr std::string_view kRoleRef = "builtin:subagent_role";

// Short on purpose: a workspace adds its own rules in AGENTS.md. It depends on the workspace folder
// only, so that providers can cache it: all requests of a session begin with the same text.
std::string system_prompt(const std::string& cwd);

// What a subagent learns in addition, at the end of its instructions.
std::string subagent_prompt(std::string_view role);

// The list of skills, one line each, followed by the text of each skill whose file the model's
// tools cannot read (Skill::text). Empty if there are no skills.
std::string skills_index(const std::vector<ports::Skill>& skills);

}  // namespace agentrt::conversation
