// schema/hooks.h: what a hook is told and what it may answer, whatever words it speaks.
//
// HookInput is the object that a hook reads, in our own dialect exactly as it stands here. It holds
// no secret and no environment: tool inputs and outputs are given to it as facts show them.
// HookOutcome is what became of one run. What each member means at each point: docs/hooks.md.
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
  std::optional<std::string> prompt;       // user_prompt_submit: what the turn was given
  std::optional<std::string> tool_name;    // the four points of a call
  std::optional<Json> tool_input;          // and its arguments, an object
  std::optional<std::string> tool_output;  // post_tool_use: as the model will see it
  std::optional<Failure> error;            // post_tool_failure
  std::optional<std::string> text;         // post_sampling and stop: what the model said
  std::optional<bool> stop_hook_active;    // stop: the turn goes on because a hook asked for it

  bool operator==(const HookInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookInput, (),
                      (point, session_id, thread_id, turn_id, tool_call_id, cwd, mode, sandbox,
                       source, prompt, tool_name, tool_input, tool_output, error, text,
                       stop_hook_active))

struct HookOutcome {
  std::optional<Failure> failure;  // then nothing below holds; the hook's on_failure decides
  bool continue_ = true;           // false: the turn ends here, `reason` says why
  bool block = false;              // what the point is about does not happen
  // At pre_tool_use and permission_request: allow, deny or ask. A block is a deny there.
  std::optional<Decision> decision;
  std::optional<std::string> reason;
  std::optional<Json> updated_input;  // an object, in our own tools' words
  std::vector<std::string> additional_context;
  std::optional<std::string> updated_tool_output;
  bool suppress_output = false;
  std::optional<std::string> message;  // for the person, not for the model
  std::vector<std::string> audit;      // notes for the record
  std::int64_t duration_ms = 0;

  bool operator==(const HookOutcome&) const = default;
};

inline constexpr std::size_t kHookInputBytesMax = 1 << 20;
inline constexpr std::size_t kHookReasonBytesMax = 4'096;  // of what it wrote to standard error
inline constexpr std::size_t kHookMatcherBytesMax = 1'024;
inline constexpr std::size_t kHookCommandBytesMax = 4'096;

}  // namespace agentrt::schema
