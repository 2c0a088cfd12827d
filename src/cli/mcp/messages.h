// cli/mcp/messages.h: the JSON-RPC messages that `agentrt mcp serve` relays. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/json.h"

namespace agentrt::cli {

struct McpLine {
  std::optional<std::string> id;  // as JSON
  std::optional<std::string> method;
  std::optional<schema::Json> params;
  std::optional<schema::Json> result;
  std::optional<schema::Json> error;
};
// nullopt: not a JSON-RPC message.
std::optional<McpLine> read_mcp_line(std::string_view text);

// The same message with another id.
std::string with_id(const McpLine& message, std::string_view id);        // a text
std::string with_raw_id(const McpLine& message, std::string_view json);  // as JSON
// The id of the server in an id of the relay, "GENERATION-ID"; nullopt: of another owner.
std::optional<std::string> own_id(std::string_view json, std::uint64_t generation);
std::string unquoted(std::string_view json);

// For a call of run_turn without idempotencyKey: the message with a fresh one.
std::optional<std::string> with_turn_key(const McpLine& message);

std::string mcp_error_line(std::string_view id, std::string_view why, int number = -32603);
std::string cancelled_line(std::string_view id);
// The request that a notifications/cancelled names, as JSON.
std::optional<std::string> cancelled_request(const McpLine& message);

}  // namespace agentrt::cli
