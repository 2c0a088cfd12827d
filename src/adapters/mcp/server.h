// adapters/mcp/server.h: a server of tools as it is configured, with everything looked up that
// configuration leaves open: variables expanded, a token read, a sandbox decided.
//
// It holds secrets (environment, headers), so it stays within the adapter and appears in no fact. A
// value; two that are equal may share one connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/sandbox.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kMcpStartupTimeoutMs = 10'000;
inline constexpr std::int64_t kMcpToolTimeoutMs = 60'000;

// A program that is started and spoken to over its standard input and output.
struct McpStdio {
  std::vector<std::string> command;
  schema::SandboxProfile profile;

  bool operator==(const McpStdio&) const = default;
};

// How a server is spoken to over HTTP: by requests that are answered one by one, or, with the older
// servers (`sse`), by a stream that all answers come in.
enum class McpHttpKind { streamable, older };

struct McpHttp {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  McpHttpKind kind = McpHttpKind::streamable;

  bool operator==(const McpHttp&) const = default;
};

struct McpServer {
  std::string name;
  std::optional<std::string> unusable;  // why it cannot be connected to, as it is configured
  std::variant<McpStdio, McpHttp> way;
  std::int64_t startup_timeout_ms = kMcpStartupTimeoutMs;  // until its tools are known
  std::int64_t tool_timeout_ms = kMcpToolTimeoutMs;        // of one call without progress
  std::optional<std::vector<std::string>> tools;           // only these, by their own names
  std::vector<std::string> disabled_tools;                 // and not these

  bool operator==(const McpServer&) const = default;
};

}  // namespace agentrt::adapters
