// runtime/mcp_servers.h: the MCP servers of a session: those of the configuration files, and those
// of .mcp.json in its workspace once a person trusts that file.
//
// They are read on each request, so that a change of a file or of trust applies to the next turn.
// The only cached result is that there are none, for as long as the files stay unchanged: that is
// the common case, and it saves the reads. A broken configuration file is an error. A problem with
// .mcp.json or with the machine yields an unusable server with the reason, and does not affect the
// others. Servers of an untrusted file are listed with the reason and never started. Callable from
// several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/mcp/server.h"
#include "runtime/config.h"

namespace agentrt::runtime {

// per session; further ones are reported as unusable
inline constexpr std::size_t kMcpServersMax = 32;
inline constexpr std::uint64_t kMcpTimeoutMaxMs = 3'600'000;
inline constexpr std::size_t kMcpServerNameBytesMax = 64;

// What is wrong with the configuration of a server, as the rest of a sentence that starts with its
// name; nullopt if it is valid.
std::optional<std::string> wrong_server(const McpServerConfig& server);

// The servers of a .mcp.json, and the errors of invalid entries, by name.
struct McpJson {
  std::map<std::string, McpServerConfig> servers;
  std::map<std::string, std::string> wrong;
};
McpJson read_mcp_json(const std::string& text);

// Replaces ${NAME} and ${NAME:-default}. Fails with not_found if a variable is not set.
Result<std::string> expanded(const std::string& text, const Environment& environment);

// Why the server's entry cannot be resolved in this environment; nullopt if it can.
std::optional<std::string> unready(const McpServerConfig& server, const Environment& environment);

class McpServers {
 public:
  // `sources`: as for the runtime's own configuration; its workspace and trust are ignored.
  McpServers(ConfigSources sources, TrustRecords& records, std::string data,
             Environment environment);

  // The servers for a session in `cwd`: the usable ones by name, then those that are unusable
  // because of the workspace's files. An unusable one never takes the name of a usable one.
  Result<std::vector<adapters::McpServer>> of(const std::string& cwd);

 private:
  // File metadata that changes whenever the file changes.
  using Stamp = std::array<std::int64_t, 6>;
  using Stamps = std::array<Stamp, 2>;  // of the host's and the user's file

  static Stamp stamp_of(const std::string& path);
  Stamps stamps() const;

  const ConfigSources sources_;
  TrustRecords& records_;
  const std::string data_;
  const Environment environment_;
  std::mutex mutex_;
  std::optional<Stamps> without_;  // under mutex_: these two files configure no server
};

// The names of environment variables with credentials for servers; their values are secrets.
std::vector<std::string> secret_names_of(const std::map<std::string, McpServerConfig>& servers);

}  // namespace agentrt::runtime
