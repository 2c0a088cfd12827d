#include "runtime/server_tools.h"

#include "runtime/data_folder.h"

namespace agentrt::runtime {
namespace {

constexpr const char* kSecretName = "mcp_login";

}  // namespace

std::unique_ptr<adapters::McpTools> make_server_tools(const ServerToolParts& parts) {
  McpServers& servers = parts.servers;
  policy::Redactor& redactor = parts.redactor;
  return std::make_unique<adapters::McpTools>(adapters::McpTools::Parts{
      .core = parts.core,
      .worker = parts.worker,
      .keeper = parts.keeper,
      .servers = [&servers](const std::string& cwd) { return servers.of(cwd); },
      .listed = [&servers](const std::string& cwd) { return servers.listed(cwd); },
      .lent = [&servers](const std::string& cwd,
                         const ports::LentMcpServer& server) { return servers.lent(cwd, server); },
      .cwd = parts.cwd,
      .logins = mcp_logins_path(parts.data),
      .client_metadata_url = parts.config.mcp.client_metadata_url,
      .secret =
          [&redactor](const std::string& value) { redactor.add_passing({kSecretName, value}); },
      .redact =
          [&redactor](std::string text) {
            auto redacted = redactor.redact(text);
            return redacted ? *std::move(redacted) : std::move(text);
          }});
}

}  // namespace agentrt::runtime
