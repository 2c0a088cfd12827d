// adapters/mcp/tool_names.h: the names under which MCP tools are offered to models.
//
// A name is mcp__SERVER__TOOL, uses only A-Z a-z 0-9 _ - and has at most 64 bytes, which every
// provider accepts. In a part that does not comply, each other character is replaced by _; the part
// is truncated and ends with _ and eight hexadecimal digits of the SHA-256 of the original. So the
// mapping is deterministic, and distinct names stay distinct. SERVER never contains __ and never
// ends with _, so the first __ after the prefix ends it. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt::adapters {

inline constexpr std::string_view kMcpPrefix = "mcp__";
inline constexpr std::size_t kProviderNameBytesMax = 64;
inline constexpr std::size_t kMcpServerPartBytesMax = 24;

// SERVER for the server configured as `name`.
std::string mcp_server_part(std::string_view name);
// The full name of a tool.
std::string mcp_tool_name(std::string_view server_part, std::string_view tool);
// SERVER of a full name; empty: not such a name.
std::optional<std::string> server_part_of(std::string_view tool_name);

}  // namespace agentrt::adapters
