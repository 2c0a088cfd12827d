// control/tools.h: what is known about each tool without asking the world, and the facts that end
// its calls.
#pragma once

#include "control/turn_facts.h"
#include "policy/permission.h"

namespace agentrt::control {

schema::ItemKind item_of(const std::string& tool);
policy::Access access_of(const std::string& tool);

// Why the call cannot be made at all, if so: in words that the model can act on.
std::optional<schema::Failure> wrong_call(const state::ToolCall& call);
// What a rule about the tool is held against: a command's text.
std::string text_of(const state::ToolCall& call);
// Where the call would run: absolute, as it is written.
std::string cwd_of(const Session& view, const state::ToolCall& call);
// The JSON Schema of an answer to the question.
schema::Json answer_schema(const schema::AskUserArgs& args);

// The tools as a turn under this policy sees them.
schema::ToolCatalogResolved tool_catalog(const Session& view, const Turn& turn);

void end_call(Facts& facts, const schema::ToolScope& scope, const std::string& tool,
              schema::Failure error);
// Ends what has begun: the turn is over before its calls are.
void close_tools(Facts& facts, const Turn& turn, const schema::Failure& error, const BootId& boot);

}  // namespace agentrt::control
