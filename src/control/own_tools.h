// control/own_tools.h: the tools that the runtime has itself, one row each: what models are told
// about them, and what the runtime knows about them without asking the world.
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
  std::string_view input_schema;
  std::string_view capability;
  schema::ItemKind item = schema::ItemKind::tool_call;
  policy::Access access = policy::Access::read_only;
  bool side_by_side = false;  // with others like it
  bool destructive = false;
  // Whether the arguments are those of the tool, as it will read them.
  Result<void> (*reads)(std::string_view args);
};

std::span<const OwnTool> own_tools();
// nullptr: no tool of the runtime.
const OwnTool* own_tool(std::string_view name);
// What is wrong with the arguments, in words that the model can act on.
std::optional<schema::Failure> wrong_arguments_of(const OwnTool& tool, const schema::Json& args);

}  // namespace agentrt::control
