// adapters/mcp/check.h: connects to an MCP server once, as a turn does, lists its tools and closes
// the connection.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "adapters/mcp/client.h"

namespace agentrt::adapters {

// Everything runs on `loop`, which must outlive the check. Calls `done` once with the number of
// tools, or with the reason why there are none.
void check_server(ports::Loop& loop, const McpServer& server, const McpClient::MakeTransport& make,
                  std::vector<std::string> folders,
                  std::move_only_function<void(Result<std::size_t>)> done);

}  // namespace agentrt::adapters
