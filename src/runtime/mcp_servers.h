// runtime/mcp_servers.h: the servers of tools that count for a session: those of the configuration
// files, and those of .mcp.json in its workspace once a person trusts that file.
//
// They are read each time they are asked for, so that a change of a file or of trust counts with
// the next turn. All that is remembered is that there are none, for as long as no file changes:
// most turns have none, and reading them would cost each of those. A broken configuration file is
// an error; whatever is wrong with .mcp.json or with the machine makes a server that says so and
// cannot be used, and leaves the others alone. So do servers of a file that nobody trusts: they are
// named with the reason and never started. Thread rule: any thread, several at once.
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

inline constexpr std::size_t kMcpServersMax = 32;  // of one session; further ones say so
inline constexpr std::uint64_t kMcpTimeoutMaxMs = 3'600'000;
inline constexpr std::size_t kMcpServerNameBytesMax = 64;

// What is wrong with a server as it is configured, as the rest of a sentence that begins with its
// name; nothing where all is well.
std::optional<std::string> wrong_server(const McpServerConfig& server);

// The servers of a .mcp.json, and why some of it is no server, by name.
struct McpJson {
  std::map<std::string, McpServerConfig> servers;
  std::map<std::string, std::string> wrong;
};
McpJson read_mcp_json(const std::string& text);

// The text with ${NAME} and ${NAME:-otherwise} in place. not_found: a variable that is not set.
Result<std::string> expanded(const std::string& text, const Environment& environment);

// Why the server cannot be given what its entry names in this environment; nothing where it can.
std::optional<std::string> unready(const McpServerConfig& server, const Environment& environment);

class McpServers {
 public:
  // `sources` as the runtime's own configuration was read; its workspace and trust do not count.
  McpServers(ConfigSources sources, TrustRecords& records, std::string data,
             Environment environment);

  // For a session in `cwd`: those of the files that count, by name, then those that cannot be used
  // because of the workspace's files, which never take the name of one that counts.
  Result<std::vector<adapters::McpServer>> of(const std::string& cwd);

 private:
  // What tells a file from the same file after a change.
  using Stamp = std::array<std::int64_t, 6>;
  using Stamps = std::array<Stamp, 2>;  // of the host's and the user's file

  static Stamp stamp_of(const std::string& path);
  Stamps stamps() const;

  const ConfigSources sources_;
  TrustRecords& records_;
  const std::string data_;
  const Environment environment_;
  std::mutex mutex_;
  std::optional<Stamps> without_;  // under mutex_: these two files name no server
};

// The names of environment variables that tell servers who asks: their values are secrets.
std::vector<std::string> secret_names_of(const std::map<std::string, McpServerConfig>& servers);

}  // namespace agentrt::runtime
