// config/mcp_servers.h: checks the entries of MCP servers, and reads those of .mcp.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace agentrt::config {

// per session; further ones are reported as unusable
inline constexpr std::size_t kMcpServersMax = 32;
inline constexpr std::uint64_t kMcpTimeoutMaxMs = 3'600'000;
inline constexpr std::size_t kMcpServerNameBytesMax = 64;

// What is wrong with the configuration of a server, as the rest of a sentence that starts with its
// name; nullopt if it is valid.
std::optional<std::string> wrong_server(const McpServerConfig& server);

// The same for its oauth section.
std::optional<std::string> wrong_oauth(const McpOauthConfig& oauth);

// The servers of a .mcp.json, and the errors of invalid entries, by name.
struct McpJson {
  std::map<std::string, McpServerConfig> servers;
  std::map<std::string, std::string> wrong;
};
McpJson read_mcp_json(const std::string& text);

// Replaces ${NAME} and ${NAME:-default}. Fails with not_found if a variable is not set.
Result<std::string> expanded(const std::string& text, const Environment& environment);

struct UnusableServer {
  std::string why;
  bool untrusted = false;  // because its file is not trusted

  bool operator==(const UnusableServer&) const = default;
};
using UnusableServers = std::map<std::string, UnusableServer>;  // by name

// Adds the servers of the workspace's .mcp.json to `servers`, or to `out` if the file is not
// trusted. A server of the configuration files takes precedence over one of the same name.
void add_workspace_servers(const ConfigSources& sources,
                           std::map<std::string, McpServerConfig>& servers, UnusableServers& out);

// Adds the servers of an untrusted workspace configuration, which load_config() ignored.
Result<void> name_passed_over(const ConfigSources& sources, UnusableServers& out);

// The names of environment variables with credentials for servers; their values are secrets.
std::vector<std::string> secret_names_of(const std::map<std::string, McpServerConfig>& servers);

}  // namespace agentrt::config
