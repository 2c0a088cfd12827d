// schema/commands/tools.h: the command that lists the tools of a session.
#pragma once

#include "schema/command.h"
#include "schema/tools.h"

namespace agentrt::schema {

// The reply to get_tool_inventory. Built-in tools are listed under the policy as its files are now;
// MCP tools as the session's newest turn found them.
struct ToolInventory {
  std::optional<SessionId> session_id;
  std::vector<CatalogTool> tools;
  std::optional<std::vector<MissingServer>> missing;  // MCP servers whose tools are unavailable
  GenerationId generation;
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ToolInventory, (), (session_id, tools, missing, generation, as_of_sequence))

struct GetToolInventory {
  static constexpr CommandTraits kTraits{"get_tool_inventory", TokenScope::read,
                                         CommandEffect::reads};
  using Reply = ToolInventory;
  std::optional<SessionId> session_id;  // default: a new session in the runtime's own folder

  bool operator==(const GetToolInventory&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetToolInventory, (), (session_id))

}  // namespace agentrt::schema
