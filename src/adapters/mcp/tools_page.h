// adapters/mcp/tools_page.h: what a server says about its tools, read.
//
// A tool that cannot be offered is left out with a reason, never in silence. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/mcp/server.h"
#include "schema/tools.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpToolsMax = 256;  // of one server
inline constexpr std::size_t kMcpToolPagesMax = 64;
inline constexpr std::size_t kMcpDescriptionBytesMax = 2'048;
inline constexpr std::size_t kMcpSchemaBytesMax = 16 * 1024;
inline constexpr std::size_t kMcpLeftOutMax = 8;  // that are named, with their reasons

// One tool of a server, under its own name and the one it is offered by.
struct McpTool {
  std::string name;
  std::string offered_as;
  std::string description;
  schema::Json input_schema;    // as the server said it: what arguments are judged by
  schema::Json offered_schema;  // the same in the words that every provider takes
  std::optional<schema::Json> output_schema;
  bool read_only = false;
  bool destructive = true;
};

// The tools of one server.
struct McpToolList {
  std::vector<McpTool> tools;
  std::vector<std::string> left_out;  // "NAME (why)", at most kMcpLeftOutMax
  std::size_t left_out_count = 0;     // all of them

  const McpTool* find(std::string_view offered_as) const;
  // Why some are missing; nothing where none is.
  std::optional<std::string> missing() const;
  void leave_out(std::string_view name, std::string_view why);
};

// Adds one page, as tools/list gave it; the cursor of the next one, where there is one.
// invalid_params: it is no list of tools.
Result<std::optional<std::string>> add_page(const schema::Json& page, const McpServer& server,
                                            McpToolList& list);

schema::CatalogTool catalog_tool(const McpTool& tool, const McpServer& server);

}  // namespace agentrt::adapters
