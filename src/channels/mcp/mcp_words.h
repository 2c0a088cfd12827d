// channels/mcp/mcp_words.h: what the MCP server says about itself: its tools with their schemas,
// and the protocol versions that it speaks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/codec.h"

namespace agentrt::channels {

inline constexpr std::uint64_t kMcpWaitMs =
    50'000;  // of run_turn, unless the caller says otherwise
inline constexpr std::uint64_t kMcpWaitMaxMs = 3'600'000;

// The version to answer `initialize` with: the requested one, if it is supported, else the newest.
std::string_view mcp_version_for(std::string_view requested);
// Whether a request may carry this MCP-Protocol-Version.
bool is_mcp_version(std::string_view version);

// The result of `initialize`.
std::string mcp_greeting(std::string_view version);
// The result of tools/list.
std::string mcp_tool_list();

struct RunTurnArgs {
  std::string prompt;
  std::optional<SessionId> session_id;
  std::optional<std::string> cwd;
  std::optional<std::string> model;
  std::optional<std::string> mode;
  std::optional<std::uint64_t> wait_ms;
  std::optional<std::string> idempotency_key;
};
BOOST_DESCRIBE_STRUCT(RunTurnArgs, (),
                      (prompt, session_id, cwd, model, mode, wait_ms, idempotency_key))

struct TurnArgs {
  SessionId session_id;
  TurnId turn_id;
};
BOOST_DESCRIBE_STRUCT(TurnArgs, (), (session_id, turn_id))

struct ListSessionsArgs {
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(ListSessionsArgs, (), (limit, cursor))

}  // namespace agentrt::channels
