// channels/mcp/mcp_reply.h: results and errors of the MCP server, as JSON-RPC messages. Pure.
#pragma once

#include <optional>
#include <string>

#include "channels/protocols/turn_result.h"

namespace agentrt::channels {

inline constexpr int kMcpNoSession = -32001;

// The result of a tool that tells about a turn.
std::string turn_tool_result(const TurnResult& result);
// The result of a tool that failed.
std::string failed_tool_result(const Error& error);

// Whether the error is about the call itself, so that it is answered as a JSON-RPC error.
bool is_wrong_call(const Error& error);

// An error with the number `number`.
std::string mcp_error(std::string_view id, int number, std::string_view message);

}  // namespace agentrt::channels
