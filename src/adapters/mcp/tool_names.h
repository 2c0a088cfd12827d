// adapters/mcp/tool_names.h: the names under which the tools of servers are offered to models.
//
// mcp__SERVER__TOOL, of the characters A-Z a-z 0-9 _ - alone and at most 64 bytes: what every
// provider takes. A part that does not fit has each other character replaced by _, is cut, and ends
// with _ and eight hexadecimal digits of the SHA-256 of the whole: the same name always becomes the
// same, and two names do not become one. SERVER never contains __ nor ends with _, so the first __
// after the prefix ends it. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt::adapters {

inline constexpr std::string_view kMcpPrefix = "mcp__";
inline constexpr std::size_t kProviderNameBytesMax = 64;
inline constexpr std::size_t kMcpServerPartBytesMax = 24;

// SERVER of the server that is configured as `name`.
std::string mcp_server_part(std::string_view name);
// The whole name of a tool.
std::string mcp_tool_name(std::string_view server_part, std::string_view tool);
// SERVER of a whole name; nothing where it is no such name.
std::optional<std::string> server_part_of(std::string_view tool_name);

}  // namespace agentrt::adapters
