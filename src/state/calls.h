// state/calls.h: the open tool calls of a turn, and the hooks, decisions and answers they wait for.
// Part of the session read model (state/session.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/facts.h"

namespace agentrt::state {

inline constexpr std::size_t kPreviewKeptBytes = 4'096;  // of the result of an ended call

// requested: not started, or its permission is being evaluated; approved: a person allowed it, and
// it has not started since; stopped: the sandbox stopped it, and it may be run again outside.
BOOST_DEFINE_ENUM_CLASS(CallStage, requested, approved, started, stopped)

// The outcome of a question (elicitation) that an MCP server asked during a call.
struct ServerAnswer {
  std::uint64_t number = 0;  // of the question within this call, from 1
  std::string decision;      // accept, decline, cancel
  std::optional<schema::Json> content;

  bool operator==(const ServerAnswer&) const = default;
};
BOOST_DESCRIBE_STRUCT(ServerAnswer, (), (number, decision, content))

// A tool call that the model requested and that has not ended.
struct ToolCall {
  ToolCallId id;
  std::string tool;
  schema::Json args;  // after any rewrite by hooks
  bool args_omitted = false;
  std::optional<std::string> wrong;  // why the arguments fail the MCP tool's schema
  CallStage stage = CallStage::requested;
  StepId step;                         // its item, once the call has started
  std::vector<schema::Verdict> said;   // verdicts of hooks on whether it may run
  std::uint64_t pre_hooks = 0;         // index of the next policy hook to run at pre_tool_use
  std::uint64_t permission_hooks = 0;  // the same at permission_request
  // a permission_request hook rewrote it; permitted once, and restarts the evaluation
  bool rewritten_late = false;
  std::optional<std::string> digest;  // of the call, where a person or a grant allowed it
  bool as_shown = false;              // a person approved this very call: it runs as shown
  bool refused = false;               // the call never runs, and no hooks run at its end
  bool outside = false;               // runs outside the sandbox
  std::uint64_t violations = 0;       // accesses that the sandbox blocked
  std::optional<schema::ToolProgress> stopped;
  std::optional<BootId> boot;  // the runtime that started it
  std::optional<Timestamp> started_at;
  std::optional<ProcessId> process;          // set by process.started
  std::optional<BootId> process_boot;        // the runtime that started the process
  std::uint64_t never_ran = 0;               // processes of the call that were never released
  std::optional<schema::FileChange> change;  // announced; it may have happened
  std::optional<ServerAnswer> answer;        // to its newest question
  // Of an item of a job: the call whose approval holds for it, and when that question expired.
  std::optional<ToolCallId> approved_as;
  std::optional<Timestamp> approved_until;
  std::optional<std::vector<schema::Verdict>> chain;  // why a person must decide about it

  bool operator==(const ToolCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolCall, (),
                      (id, tool, args, args_omitted, wrong, stage, step, said, pre_hooks,
                       permission_hooks, rewritten_late, digest, as_shown, refused, outside,
                       violations, stopped, boot, started_at, process, process_boot, never_ran,
                       change, answer, approved_as, approved_until, chain))

// A decision that a turn waits for.
struct Action {
  ActionId id;
  std::optional<ToolCallId> call;
  StepId step;  // of that call
  Sequence sequence = 0;
  Timestamp at;
  schema::ActionRequired required;
  std::optional<std::vector<schema::Verdict>> chain;  // of a permission

  bool operator==(const Action&) const = default;
};
BOOST_DESCRIBE_STRUCT(Action, (), (id, call, step, sequence, at, required, chain))

// A hook in progress.
struct HookRun {
  std::string id;
  schema::HookPoint point = schema::HookPoint::pre_tool_use;
  std::uint64_t index = 0;  // in the policy's list of hooks
  schema::HookSpec hook;    // as configured when the hook started
  std::optional<ToolCallId> call;
  StepId step;
  BootId boot;

  bool operator==(const HookRun&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookRun, (), (id, point, index, hook, call, step, boot))

// A tool call that has ended and whose post-call hooks are not finished.
struct EndedCall {
  ToolCallId id;
  StepId step;
  std::string tool;
  schema::Json args;
  bool failed = false;
  std::string preview;
  std::optional<schema::Failure> error;
  std::optional<std::string> output_ref;
  bool refused = false;  // the call did not run; only of an item of a job

  bool operator==(const EndedCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(EndedCall, (),
                      (id, step, tool, args, failed, preview, error, output_ref, refused))

// --- effects of facts on a call ---

// Applies the outcome of a hook.
void hear_hook(ToolCall& call, const schema::HookCompleted& said);
// Records that the MCP server's question was answered or withdrawn.
void answer_server(ToolCall& call, const schema::ActionResolved& resolved);
// Records that the call was started or refused.
void start(ToolCall& call, const schema::ToolStarted& started, const StepId& step, Timestamp at);
// Records that a person allowed the call.
void allow(ToolCall& call, const std::optional<std::string>& digest);

// A call that the model is still writing: its item has started.
struct WrittenCall {
  StepId step;
  ToolCallId id;
  std::string tool;

  bool operator==(const WrittenCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(WrittenCall, (), (step, id, tool))

}  // namespace agentrt::state
