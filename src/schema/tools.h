// schema/tools.h: the built-in tools and their arguments, as models call them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::schema {

// Runs `command` with /bin/bash -c in the workspace's sandbox.
struct ShellArgs {
  static constexpr std::string_view kTool = "shell";
  std::string command;
  std::optional<std::string> cwd;  // in the workspace; absolute or relative to it
  std::optional<std::uint64_t> timeout_ms;
  // the call ends once the process runs; the process keeps running
  std::optional<bool> background;
  std::optional<bool> tty;  // with its own terminal
  // the command needs more access than the sandbox grants
  std::optional<bool> outside_sandbox;
  std::optional<std::string> justification;  // why, for the person who must approve

  bool operator==(const ShellArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ShellArgs, (),
                      (command, cwd, timeout_ms, background, tty, outside_sandbox, justification))

// Asks the user a question and waits for the answer.
struct AskUserArgs {
  static constexpr std::string_view kTool = "ask_user";
  std::string question;
  std::optional<std::vector<std::string>> choices;  // default: any text is accepted

  bool operator==(const AskUserArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(AskUserArgs, (), (question, choices))

// The answer to AskUserArgs, as carried by respond_action.
struct AskUserAnswer {
  std::string answer;
};
BOOST_DESCRIBE_STRUCT(AskUserAnswer, (), (answer))

BOOST_DEFINE_ENUM_CLASS(PlanStatus, pending, in_progress, completed)

struct PlanStep {
  std::string step;
  PlanStatus status = PlanStatus::pending;

  bool operator==(const PlanStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlanStep, (), (step, status))

// Publishes the plan and its progress for observers. Has no other effect.
struct UpdatePlanArgs {
  static constexpr std::string_view kTool = "update_plan";
  std::vector<PlanStep> plan;
  std::optional<std::string> explanation;

  bool operator==(const UpdatePlanArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(UpdatePlanArgs, (), (plan, explanation))

// An MCP server whose tools are unavailable, and why.
struct MissingServer {
  std::string name;
  std::string reason;

  bool operator==(const MissingServer&) const = default;
};
BOOST_DESCRIBE_STRUCT(MissingServer, (), (name, reason))

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

// The value of runtime_owner for built-in tools.
inline constexpr std::string_view kOwnTools = "agentrt";
inline constexpr std::string_view kServerToolPrefix = "mcp__";

inline constexpr std::string_view kShellProgram = "/bin/bash";
inline constexpr std::uint64_t kShellTimeoutMs = 120'000;
inline constexpr std::uint64_t kShellTimeoutMaxMs = 3'600'000;
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
