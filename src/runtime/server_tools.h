// runtime/server_tools.h: makes the tools of MCP servers, with the stored logins of the data
// folder.
#pragma once

#include <memory>
#include <string>

#include "adapters/mcp/mcp_tools.h"
#include "config/config.h"
#include "policy/redaction.h"
#include "runtime/mcp_servers.h"

namespace agentrt::runtime {

// All references must outlive the result.
struct ServerToolParts {
  ports::Loop& core;
  ports::Worker& worker;
  ports::OutputKeeper& keeper;
  McpServers& servers;
  const config::Config& config;
  const std::string& data;
  std::string cwd;  // of queries that name no folder; empty: no folder's files count
  policy::Redactor& redactor;
};
std::unique_ptr<adapters::McpTools> make_server_tools(const ServerToolParts& parts);

}  // namespace agentrt::runtime
