// schema/tools.h: the tools that this runtime has, as models call them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::schema {

// Runs a text with /bin/bash -c in the workspace's sandbox.
struct ShellArgs {
  static constexpr std::string_view kTool = "shell";
  std::string command;
  std::optional<std::string> cwd;  // in the workspace; relative to it or absolute
  std::optional<std::uint64_t> timeout_ms;
  std::optional<bool> background;            // the call ends as soon as it runs, and it goes on
  std::optional<bool> tty;                   // with a terminal of its own
  std::optional<bool> outside_sandbox;       // it needs more than the sandbox gives
  std::optional<std::string> justification;  // why, for the person who is asked

  bool operator==(const ShellArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ShellArgs, (),
                      (command, cwd, timeout_ms, background, tty, outside_sandbox, justification))

// Asks whoever sits there, and waits for the answer.
struct AskUserArgs {
  static constexpr std::string_view kTool = "ask_user";
  std::string question;
  std::optional<std::vector<std::string>> choices;  // absent: any text

  bool operator==(const AskUserArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(AskUserArgs, (), (question, choices))

// The answer to it, as respond_action carries it.
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

// Says what is to be done and how far it is, for whoever watches. It changes nothing else.
struct UpdatePlanArgs {
  static constexpr std::string_view kTool = "update_plan";
  std::vector<PlanStep> plan;
  std::optional<std::string> explanation;

  bool operator==(const UpdatePlanArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(UpdatePlanArgs, (), (plan, explanation))

// A server whose tools are missing, and why.
struct MissingServer {
  std::string name;
  std::string reason;

  bool operator==(const MissingServer&) const = default;
};
BOOST_DESCRIBE_STRUCT(MissingServer, (), (name, reason))

// One tool as tool.catalog.resolved lists it.
struct CatalogTool {
  std::string tool_name;
  std::string description;
  Json input_schema;
  std::vector<std::string> capabilities;
  std::string policy;  // allowed, asked, denied, by_rule: what a call gets where no rule speaks
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

// The runtime's own tools, as the owner of a catalogue's entry.
inline constexpr std::string_view kOwnTools = "agentrt";
inline constexpr std::string_view kServerToolPrefix = "mcp__";

inline constexpr std::string_view kShellProgram = "/bin/bash";
inline constexpr std::uint64_t kShellTimeoutMs = 120'000;
inline constexpr std::uint64_t kShellTimeoutMaxMs = 3'600'000;
inline constexpr std::size_t kToolCallsMax = 64;       // of one answer are made
inline constexpr std::size_t kToolCallsToldMax = 128;  // and so many heard; more are a failure
// Of all calls of one answer: they stand in facts and in the view.
inline constexpr std::size_t kToolArgsBytesMax = 48 * 1024;
inline constexpr std::size_t kToolNameBytesMax = 128;
inline constexpr std::size_t kProcessInlineBytes = 16 * 1024;      // of output that stands in facts
inline constexpr std::size_t kBackgroundInlineBytes = 256 * 1024;  // the same, in the background
inline constexpr std::size_t kProcessPieceBytes = 4'096;           // of one process.output

}  // namespace agentrt::schema
