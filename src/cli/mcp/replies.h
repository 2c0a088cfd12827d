// cli/mcp/replies.h: the runtime's replies about MCP servers and logins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/context.h"
#include "schema/codec.h"

namespace agentrt::cli {

struct McpLoginRow {
  std::vector<std::string> scopes;
  std::optional<Timestamp> expires_at;
  bool renewable = false;
  std::optional<std::string> redirect_uri;
};
BOOST_DESCRIBE_STRUCT(McpLoginRow, (), (scopes, expires_at, renewable, redirect_uri))

struct McpServerRow {
  std::string name;
  std::string transport;
  std::string state;
  std::optional<std::uint64_t> tools;
  std::optional<McpLoginRow> login;
  std::optional<std::string> reason;
  std::optional<std::string> remedy;
  std::optional<std::uint64_t> redirect_port;
};
BOOST_DESCRIBE_STRUCT(McpServerRow, (),
                      (name, transport, state, tools, login, reason, remedy, redirect_port))

struct McpLoginReply {
  std::string status;  // waiting, not_needed, logged_in
  std::optional<std::string> login_id;
  std::string server;
  std::string url;
  std::optional<std::string> issuer;
  std::optional<std::string> authorization_url;
  std::optional<std::string> redirect_uri;
  std::optional<std::vector<std::string>> scopes;
  std::optional<Timestamp> expires_at;
  std::optional<std::uint64_t> tools;
  std::optional<bool> renewable;
  std::optional<std::string> reason;
  std::optional<std::string> remedy;
};
BOOST_DESCRIBE_STRUCT(McpLoginReply, (),
                      (status, login_id, server, url, issuer, authorization_url, redirect_uri,
                       scopes, expires_at, tools, renewable, reason, remedy))

// The servers of this folder; with `server`, only that one. `check`: the runtime connects to each.
Result<std::string> ask_mcp_servers(Context& context, const Client& client, bool check,
                                    const std::optional<std::string>& server);
Result<std::vector<McpServerRow>> read_mcp_servers(const std::string& reply);

// The folder whose files configure servers, as the end of a query; empty for a remote runtime
// without --cwd.
std::string cwd_query(const Context& context);

// How long the runtime may take: it starts servers, and asks several others.
inline constexpr int kMcpReplyMs = 150'000;

}  // namespace agentrt::cli
