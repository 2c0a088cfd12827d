// schema/tools.h: tools as facts and commands describe them, and the limits of their calls.
//
// The built-in tools and their arguments are in src/tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::schema {

// The answer to a question that a tool asks the user, as carried by respond_action.
struct AskUserAnswer {
  std::string answer;
};
BOOST_DESCRIBE_STRUCT(AskUserAnswer, (), (answer))

// An MCP server whose tools are unavailable, and why.
struct MissingServer {
  std::string name;
  std::string reason;
  std::optional<std::string> remedy = {};  // what a person can do about it

  bool operator==(const MissingServer&) const = default;
};
BOOST_DESCRIBE_STRUCT(MissingServer, (), (name, reason, remedy))

// One tool as listed in tool.catalog.resolved.
struct CatalogTool {
  std::string tool_name;
  std::string description;
  Json input_schema;
  std::vector<std::string> capabilities;
  // allowed, asked, denied, by_rule: the decision for a call that no rule matches
  std::string policy;
  std::string runtime_owner;
  bool is_read_only = false;
  bool is_concurrency_safe = false;
  bool is_destructive = false;
  std::string interrupt_behavior;  // cancel

  bool operator==(const CatalogTool&) const = default;
};
BOOST_DESCRIBE_STRUCT(CatalogTool, (),
                      (tool_name, description, input_schema, capabilities, policy, runtime_owner,
                       is_read_only, is_concurrency_safe, is_destructive, interrupt_behavior))

// The bytes of the tool in a model request, as the estimate of tokens counts them.
inline std::size_t sent_bytes(const CatalogTool& tool) {
  return tool.tool_name.size() + tool.description.size() + tool.input_schema.text.size();
}

// The value of runtime_owner for built-in tools.
inline constexpr std::string_view kOwnTools = "agentrt";
inline constexpr std::string_view kServerToolPrefix = "mcp__";

inline constexpr std::string_view kShellProgram = "/bin/bash";
inline constexpr std::size_t kToolCallsMax = 64;  // executed per model answer
// accepted per model answer; more is a failure
inline constexpr std::size_t kToolCallsToldMax = 128;
// Total for all calls of one answer, which are stored in facts and in the view.
inline constexpr std::size_t kToolArgsBytesMax = 48 * 1024;
inline constexpr std::size_t kToolNameBytesMax = 128;
// output bytes stored in facts, per process
inline constexpr std::size_t kProcessInlineBytes = 16 * 1024;
// the same for a background process
inline constexpr std::size_t kBackgroundInlineBytes = 256 * 1024;
inline constexpr std::size_t kProcessPieceBytes = 4'096;  // per process.output fact

}  // namespace agentrt::schema
