// schema/facts/hook.h: runs of hooks: user commands at the governance points of a turn.
#pragma once

#include "schema/facts/permission.h"
#include "schema/policy.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct HookStarted {
  static constexpr std::string_view kType = "hook.started";
  using Scope = HookScope;
  HookPoint point = HookPoint::pre_tool_use;
  std::optional<std::string> hook_run_id;  // distinguishes runs at the same point
  std::optional<std::string> command;
  std::optional<std::uint64_t> index;  // the hook's index in the policy
  std::optional<BootId> boot_id;

  bool operator==(const HookStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookStarted, (), (point, hook_run_id, command, index, boot_id))

struct HookCompleted {
  static constexpr std::string_view kType = "hook.completed";
  using Scope = HookScope;
  HookPoint point = HookPoint::pre_tool_use;
  std::optional<std::string> hook_run_id;
  std::optional<bool> continue_;
  std::optional<bool> block;
  std::optional<Decision> decision;  // allow, deny, ask
  std::optional<std::string> reason;
  std::optional<std::string> updated_input_ref;  // a ref to this fact itself, log:N
  std::optional<Json> updated_input;
  std::optional<std::vector<std::string>> additional_context_refs;
  std::optional<std::vector<std::string>> additional_context;
  std::optional<std::string> updated_tool_output_ref;
  std::optional<std::string> updated_tool_output;
  std::optional<bool> suppress_output;
  std::optional<std::vector<std::string>> audit_refs;
  std::optional<std::int64_t> duration_ms;

  bool operator==(const HookCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookCompleted, (),
                      (point, hook_run_id, continue_, block, decision, reason, updated_input_ref,
                       updated_input, additional_context_refs, additional_context,
                       updated_tool_output_ref, updated_tool_output, suppress_output, audit_refs,
                       duration_ms))

// Records how the failure was handled: `closed` blocks, `open` continues with a warning.
struct HookFailed {
  static constexpr std::string_view kType = "hook.failed";
  using Scope = HookScope;
  HookPoint point = HookPoint::pre_tool_use;
  std::optional<std::string> hook_run_id;
  std::optional<Failure> error;
  OnFailure on_failure = OnFailure::closed;
  std::optional<std::int64_t> duration_ms;

  bool operator==(const HookFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookFailed, (), (point, hook_run_id, error, on_failure, duration_ms))

}  // namespace agentrt::schema
