// control/own_tools.h: the built-in tools, one row each: the description and argument schema for
// the model, and the properties that the runtime needs before a call runs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "policy/permission.h"
#include "schema/statuses.h"
#include "schema/values.h"

namespace agentrt::control {

struct OwnTool {
  std::string_view name;
  std::string_view description;
  std::string_view (*input_schema)();  // created once
  std::string_view capability;
  schema::ItemKind item = schema::ItemKind::tool_call;
  policy::Access access = policy::Access::read_only;
  bool side_by_side = false;  // calls of it may run in parallel
  bool destructive = false;
  // Fails if the tool cannot parse these arguments.
  Result<void> (*reads)(std::string_view args);
};

std::span<const OwnTool> own_tools();
// nullptr: not a built-in tool.
const OwnTool* own_tool(std::string_view name);
// Why the arguments are invalid, in words that the model can act on.
std::optional<schema::Failure> wrong_arguments_of(const OwnTool& tool, const schema::Json& args);

}  // namespace agentrt::control
