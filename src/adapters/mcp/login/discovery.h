// adapters/mcp/login/discovery.h: finds out where to log in to an MCP server: from its challenge
// over the metadata of the server to that of its authorization server.
//
// Without metadata of the server, the rules of MCP 2025-03-26 apply: the metadata of the
// authorization server is at the server's origin, or the server has the usual endpoints there.
//
// Threads: everything runs on the asker's loop. `done` is called once, unless the asker is
// destroyed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/mcp/login/asker.h"
#include "adapters/mcp/login/challenge.h"
#include "adapters/mcp/login/metadata.h"

namespace agentrt::adapters {

struct Discovered {
  std::string resource;
  IssuerMetadata issuer;
  std::optional<std::vector<std::string>> scopes;  // that the server's metadata lists
};

struct DiscoveryQuery {
  Place server;
  Challenge challenge;
  std::optional<std::string> only_issuer;  // any other is refused
};

using DiscoveredTo = std::move_only_function<void(Result<Discovered>)>;
// Errors: unavailable: a server cannot be reached; forbidden: a document cannot be used.
void discover(Asker& asker, DiscoveryQuery query, DiscoveredTo done);

}  // namespace agentrt::adapters
