// adapters/mcp/server.h: the resolved configuration of an MCP server: variables expanded, token
// read, sandbox chosen.
//
// It holds secrets (environment, headers), so it stays within the adapter and appears in no fact. A
// value type; equal values may share one connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/jwt.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kMcpStartupMs = 60'000;
inline constexpr std::int64_t kMcpWaitMs = 1'000;
inline constexpr std::int64_t kMcpAnswerMs = 10'000;  // of a ping, or a list of tools later on
inline constexpr std::int64_t kMcpToolTimeoutMs = 60'000;

// A program that is started and communicates over its standard input and output.
struct McpStdio {
  std::vector<std::string> command;
  schema::SandboxProfile profile;

  bool operator==(const McpStdio&) const = default;
};

// The HTTP protocol: Streamable HTTP, where each request is answered separately, or the older
// HTTP+SSE (`sse`), where one stream carries all answers.
enum class McpHttpKind { streamable, older };

enum class OauthGrant { authorization_code, client_credentials };

// How a client logs in to a server that requires it (adapters/mcp/login).
struct McpOauth {
  OauthGrant grant = OauthGrant::authorization_code;
  std::vector<std::string> scopes;       // empty: those that the server names
  std::optional<std::string> client_id;  // absent: the client registers itself
  std::optional<std::string> client_secret;
  std::optional<std::string> private_key_file;
  JwtAlgorithm algorithm = JwtAlgorithm::es256;
  std::optional<std::string> authorization_server;  // the only issuer that is accepted
  std::uint16_t redirect_port = 0;                  // 0: any
  std::optional<std::string> client_metadata_url;   // serves as client id, if the issuer takes it

  bool operator==(const McpOauth&) const = default;
};

// Tokens are not part of the configuration: a connection asks for one per request.
struct McpHttp {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  McpHttpKind kind = McpHttpKind::streamable;
  std::optional<McpOauth> oauth = {};  // absent: it authenticates with its headers, or not at all

  bool operator==(const McpHttp&) const = default;
};

struct McpServer {
  std::string name;
  std::optional<std::string> unusable;  // why its configuration does not allow a connection
  bool untrusted = false;               // because its file is not trusted
  bool disabled = false;                // by its entry; only listed
  std::variant<McpStdio, McpHttp> way;
  std::int64_t startup_ms = kMcpStartupMs;           // until its tools are listed
  std::int64_t wait_ms = kMcpWaitMs;                 // that a turn waits for its tools
  std::int64_t tool_timeout_ms = kMcpToolTimeoutMs;  // per call, since the last progress
  std::optional<std::vector<std::string>> tools;     // allow list, by the server's own names
  std::vector<std::string> disabled_tools;           // deny list

  bool operator==(const McpServer&) const = default;
};

}  // namespace agentrt::adapters
