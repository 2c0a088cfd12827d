// channels/mcp/mcp_forms.h: a question of a turn as an MCP elicitation, and its answer. Pure.
#pragma once

#include <optional>
#include <string>

#include "schema/action_snapshot.h"

namespace agentrt::channels {

// The params of elicitation/create in mode form. nullopt: the question cannot be shown as a form.
std::optional<std::string> form_of(const schema::ActionSnapshot& action);

struct FormAnswer {
  std::string decision;
  std::optional<schema::Json> payload;
};
// The answer in the result of elicitation/create. nullopt: the person has not decided.
std::optional<FormAnswer> answer_in(const schema::ActionSnapshot& action,
                                    const schema::Json& result);

}  // namespace agentrt::channels
