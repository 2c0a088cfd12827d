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

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/mcp/server.h"
#include "config/file_marks.h"
#include "config/mcp_servers.h"
#include "ports/mcp_access.h"

namespace agentrt::runtime {

// Why the server's entry cannot be resolved in this environment; nullopt if it can.
std::optional<std::string> unready(const config::McpServerConfig& server,
                                   const config::Environment& environment);

// The stored logins to the server at this URL: whether one is still valid. nullopt: there is none.
std::optional<bool> logged_in(const std::string& data, const std::string& url);

class McpServers {
 public:
  // `sources`: as for the runtime's own configuration; its workspace and trust are ignored.
  McpServers(config::ConfigSources sources, config::TrustRecords& records, std::string data,
             config::Environment environment);

  // The servers for a session in `cwd`: the usable ones by name, then those that are unusable
  // because of the workspace's files. An unusable one never takes the name of a usable one.
  Result<std::vector<adapters::McpServer>> of(const std::string& cwd);
  // The same with those that are disabled. `cwd` may be empty: no folder's files count.
  Result<std::vector<adapters::McpServer>> listed(const std::string& cwd);
  // The configuration of a server that an editor lends, for a session in `cwd`: like one of the
  // user's own configuration.
  adapters::McpServer lent(const std::string& cwd, const ports::LentMcpServer& server);

 private:
  Result<std::vector<adapters::McpServer>> read(const std::string& cwd);

  config::ConfigSources sources_;  // without a workspace
  config::TrustRecords& records_;
  const std::string data_;
  const config::Environment environment_;
  std::mutex mutex_;
  // Under mutex_: in this state, the files of the host and the user configure no server.
  std::optional<std::vector<config::FileMark>> without_;
};

}  // namespace agentrt::runtime
