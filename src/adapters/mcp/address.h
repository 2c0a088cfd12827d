// adapters/mcp/address.h: validates the endpoint to which an older MCP server (HTTP+SSE) wants
// messages sent. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpAddressBytesMax = 8'192;

// Resolves `named` against `url`, which is http or https. Credentials are sent there, so scheme,
// host and port must be the same. Errors: invalid_params: they differ, or `named` is not a valid
// URL.
Result<std::string> address_beside(std::string_view url, std::string_view named);

}  // namespace agentrt::adapters
