// schema/facts/tool.h: one call of a tool, from its start to its only end.
#pragma once

#include "schema/file_tools.h"
#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

// The intent: stored before anything runs.
struct ToolStarted {
  static constexpr std::string_view kType = "tool.started";
  using Scope = ToolScope;
  std::string tool_name;
  std::optional<Json> safe_args;  // without secrets; or input_ref
  std::optional<std::string> input_ref;
  std::optional<Json> policy;           // how it came to be allowed, or was not
  std::optional<bool> outside_sandbox;  // the call was allowed to leave it
  std::optional<BootId> boot_id;

  bool operator==(const ToolStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolStarted, (),
                      (tool_name, safe_args, input_ref, policy, outside_sandbox, boot_id))

// A piece of the arguments, as the model streams them.
struct ToolArgs {
  static constexpr std::string_view kType = "tool.args";
  std::string delta;

  bool operator==(const ToolArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolArgs, (), (delta))

struct ToolProgress {
  static constexpr std::string_view kType = "tool.progress";
  using Scope = ToolScope;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;
  std::optional<std::string>
      stopped_by;  // sandbox: it came to an end there, and may be run outside
  std::optional<std::int64_t> exit_code;
  std::optional<FileChange> change;  // that it is about to make

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

  bool operator==(const ToolResult&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolResult, (),
                      (preview, output_ref, structured_content_ref, artifact_refs, is_error,
                       duration_ms))

// The tool gave no result of its own.
struct ToolFailed {
  static constexpr std::string_view kType = "tool.failed";
  using Scope = ToolScope;
  Failure error;
  std::optional<std::string> error_ref;
  std::int64_t duration_ms = 0;
  // What a command had printed until then.
  std::optional<std::string> preview;
  std::optional<std::vector<std::string>> output_refs;

  bool operator==(const ToolFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolFailed, (), (error, error_ref, duration_ms, preview, output_refs))

}  // namespace agentrt::schema
