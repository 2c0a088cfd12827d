// tools/registry.h: the built-in tools, and questions about a tool that is known by its name only.
//
// A name that is not built in is the name of an MCP tool, or of no tool at all. The functions that
// take a name answer for those as well.
//
// PURE. Safe on any thread.
#pragma once

#include "schema/values.h"
#include "tools/tool.h"

namespace agentrt::tools {

// In the order in which the model is given them.
std::span<const Tool> all();
// The tools that only the runtime calls.
std::span<const Tool> own();
// Of both; nullptr: not a built-in tool.
const Tool* find(std::string_view name);
// The name by which rules and hooks know a call of the tool.
std::string_view judged_as(std::string_view name);

// server: not a built-in tool.
Runner runner_of(std::string_view name);
// execute: not a built-in tool, so a call may do anything.
Access access_of(std::string_view name);
RuleForm rule_form_of(std::string_view name);

// The wire name of the argument that is a path; empty: none is. MCP tools do not declare it: one
// that is called path is taken for a path.
std::string_view path_argument_of(std::string_view name);
// The path that the call names. Absent: it names none.
std::optional<std::string> path_in(std::string_view name, std::string_view args);
// Absent: the tool runs no process, or the arguments do not decode.
std::optional<Command> command_in(std::string_view name, std::string_view args);
// The canonical URL that the call requests. Absent: it requests none, or the arguments do not
// decode.
std::optional<std::string> address_in(std::string_view name, std::string_view args);
// Absent: the tool asks no person, or the arguments do not decode.
std::optional<Question> question_in(std::string_view name, std::string_view args);
// Absent: the tool is not about subagents, or the arguments do not decode.
std::optional<AgentCall> agent_call_in(std::string_view name, std::string_view args);
// Why the arguments are invalid, in words that the model can act on.
std::optional<schema::Failure> wrong_arguments(const Tool& tool, const schema::Json& args);

// The name of a tool that this runtime does not offer yet. Rules and hook files may use it.
struct ReservedName {
  std::string_view name;
  std::array<std::string_view, 2> claude_hooks = {};  // its names in Claude Code's hooks
};
std::span<const ReservedName> reserved_names();
// nullptr: not reserved.
const ReservedName* find_reserved(std::string_view name);

}  // namespace agentrt::tools
