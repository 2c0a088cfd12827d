// schema/hooks.h: the input and outcome of a hook, independent of the dialect that the hook speaks.
//
// HookInput is the JSON object that a hook reads; hooks of our own dialect get exactly these
// members. It contains no secrets and no environment: tool inputs and outputs are redacted as in
// facts. HookOutcome is the result of one run. docs/hooks.md defines each member for each hook
// point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/facts/permission.h"
#include "schema/policy.h"
#include "schema/values.h"

namespace agentrt::schema {

struct HookSandbox {
  SandboxMode mode = SandboxMode::workspace_write;
  bool network = false;

  bool operator==(const HookSandbox&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookSandbox, (), (mode, network))

struct HookInput {
  HookPoint point = HookPoint::pre_tool_use;
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  std::optional<ToolCallId> tool_call_id;
  std::string cwd;  // the session's workspace
  PermissionMode mode = PermissionMode::default_;
  HookSandbox sandbox;
  std::optional<std::string> source;       // session_start: startup or resume
  std::optional<std::string> prompt;       // user_prompt_submit: the input of the turn
  std::optional<std::string> tool_name;    // at the four tool call points
  std::optional<Json> tool_input;          // the arguments of that call, an object
  std::optional<std::string> tool_output;  // post_tool_use: as sent to the model
  std::optional<Failure> error;            // post_tool_failure
  std::optional<std::string> text;         // post_sampling and stop: the model's text
  std::optional<bool> stop_hook_active;    // stop: a hook has already kept this turn running

  bool operator==(const HookInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookInput, (),
                      (point, session_id, thread_id, turn_id, tool_call_id, cwd, mode, sandbox,
                       source, prompt, tool_name, tool_input, tool_output, error, text,
                       stop_hook_active))

struct HookOutcome {
  // if set, ignore all members below; the hook's on_failure applies
  std::optional<Failure> failure;
  bool continue_ = true;  // false: the turn ends here; `reason` explains why
  bool block = false;     // prevents the action at this hook point
  // At pre_tool_use and permission_request: allow, deny or ask. `block` means deny there.
  std::optional<Decision> decision;
  std::optional<std::string> reason;
  std::optional<Json> updated_input;  // an object, in the arguments of our own tools
  std::vector<std::string> additional_context;
  std::optional<std::string> updated_tool_output;
  bool suppress_output = false;
  std::optional<std::string> message;  // for the user, not for the model
  std::vector<std::string> audit;      // notes for the audit log
  std::int64_t duration_ms = 0;

  bool operator==(const HookOutcome&) const = default;
};

inline constexpr std::size_t kHookInputBytesMax = 1 << 20;
inline constexpr std::size_t kHookReasonBytesMax = 4'096;  // taken from standard error
inline constexpr std::size_t kHookMatcherBytesMax = 1'024;
inline constexpr std::size_t kHookCommandBytesMax = 4'096;

}  // namespace agentrt::schema
