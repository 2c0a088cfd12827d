// adapters/mcp/tools_page.h: parses the tool list of an MCP server.
//
// A tool that cannot be offered is omitted with a reason, never silently. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/mcp/server.h"
#include "schema/tools.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpToolsMax = 256;  // per server
inline constexpr std::size_t kMcpToolPagesMax = 64;
inline constexpr std::size_t kMcpDescriptionBytesMax = 2'048;
inline constexpr std::size_t kMcpSchemaBytesMax = 16 * 1024;
inline constexpr std::size_t kMcpLeftOutMax = 8;  // omitted tools listed with their reasons

// A tool of a server, with its own name and the name offered to models.
struct McpTool {
  std::string name;
  std::string offered_as;
  std::string description;
  schema::Json input_schema;    // from the server; arguments are validated against it
  schema::Json offered_schema;  // the same, adapted to what every provider accepts
  std::optional<schema::Json> output_schema;
  bool read_only = false;
  bool destructive = true;
};

// The tools of one server.
struct McpToolList {
  std::vector<McpTool> tools;
  std::vector<std::string> left_out;  // "NAME (why)", at most kMcpLeftOutMax
  std::size_t left_out_count = 0;     // including those not listed

  const McpTool* find(std::string_view offered_as) const;
  // Why tools are missing; empty: none is.
  std::optional<std::string> missing() const;
  void leave_out(std::string_view name, std::string_view why);
};

// Adds one page of tools/list. Returns the cursor of the next page, if any. Errors: invalid_params:
// not a list of tools.
Result<std::optional<std::string>> add_page(const schema::Json& page, const McpServer& server,
                                            McpToolList& list);

schema::CatalogTool catalog_tool(const McpTool& tool, const McpServer& server);

}  // namespace agentrt::adapters
