// schema/facts/tool.h: one tool call, from its start to its single terminal fact.
#pragma once

#include "schema/file_tools.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

// The intent, stored before the call runs.
struct ToolStarted {
  static constexpr std::string_view kType = "tool.started";
  using Scope = ToolScope;
  std::string tool_name;
  // With secrets redacted, and long texts shortened if the arguments exceed kSafeArgsBytesMax;
  // tool.args then has them in full. Absent if input_ref is given.
  std::optional<Json> safe_args;
  std::optional<std::string> input_ref;
  std::optional<Json> policy;           // why the call was allowed or denied
  std::optional<bool> outside_sandbox;  // the call may run outside the sandbox
  std::optional<BootId> boot_id;

  bool operator==(const ToolStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolStarted, (),
                      (tool_name, safe_args, input_ref, policy, outside_sandbox, boot_id))

inline constexpr std::size_t kSafeArgsBytesMax = 4'096;

// A chunk of the arguments, with secrets redacted. Follows tool.started if that shortens them; the
// deltas of a call add up to the JSON text of its arguments.
struct ToolArgs {
  static constexpr std::string_view kType = "tool.args";
  using Scope = ToolScope;
  std::string delta;

  bool operator==(const ToolArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolArgs, (), (delta))

struct ToolProgress {
  static constexpr std::string_view kType = "tool.progress";
  using Scope = ToolScope;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;
  // "sandbox": the sandbox stopped the command; it may be run again outside.
  std::optional<std::string> stopped_by;
  std::optional<std::int64_t> exit_code;
  std::optional<FileChange> change;  // the change that the call is about to make

  bool operator==(const ToolProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolProgress, (), (preview, output_ref, stopped_by, exit_code, change))

struct ToolResult {
  static constexpr std::string_view kType = "tool.result";
  using Scope = ToolScope;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;
  std::optional<std::string> structured_content_ref;
  std::optional<std::vector<std::string>> artifact_refs;
  bool is_error = false;
  std::int64_t duration_ms = 0;
  std::optional<std::string> tool_name = {};

  bool operator==(const ToolResult&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolResult, (),
                      (preview, output_ref, structured_content_ref, artifact_refs, is_error,
                       duration_ms, tool_name))

// The tool returned no result.
struct ToolFailed {
  static constexpr std::string_view kType = "tool.failed";
  using Scope = ToolScope;
  Failure error;
  std::optional<std::string> error_ref;
  std::int64_t duration_ms = 0;
  // The output that a command printed before it failed.
  std::optional<std::string> preview;
  std::optional<std::vector<std::string>> output_refs;
  std::optional<std::string> tool_name = {};

  bool operator==(const ToolFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolFailed, (),
                      (error, error_ref, duration_ms, preview, output_refs, tool_name))

}  // namespace agentrt::schema
