// state/calls.h: the calls of a turn that are open, and what they wait for: hooks, decisions, the
// answers of people. Part of the session read model (state/session.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/facts.h"

namespace agentrt::state {

inline constexpr std::size_t kPreviewKeptBytes = 4'096;  // of what an ended call gave

// requested: not begun, or being judged; approved: a person said yes, and it has not started since;
// stopped: the sandbox stopped it, and it may be run again outside.
BOOST_DEFINE_ENUM_CLASS(CallStage, requested, approved, started, stopped)

// What became of a question that a server asked in the middle of a call.
struct ServerAnswer {
  std::uint64_t number = 0;  // of this call's questions, from 1
  std::string decision;      // accept, decline, cancel
  std::optional<schema::Json> content;

  bool operator==(const ServerAnswer&) const = default;
};
BOOST_DESCRIBE_STRUCT(ServerAnswer, (), (number, decision, content))

// A tool call that the model asked for and that has not ended yet.
struct ToolCall {
  ToolCallId id;
  std::string tool;
  schema::Json args;  // as hooks left them
  bool args_omitted = false;
  std::optional<std::string> wrong;  // with them, by the schema of a server's tool
  CallStage stage = CallStage::requested;
  StepId step;                         // its item, once it has begun
  std::vector<schema::Verdict> said;   // by hooks, about whether it may run
  std::uint64_t pre_hooks = 0;         // how far the policy's hooks have run at pre_tool_use
  std::uint64_t permission_hooks = 0;  // and at permission_request
  bool rewritten_late = false;         // at permission_request, which starts it over once
  std::optional<std::string> digest;   // that a person approved
  bool refused = false;                // it never runs; nobody is asked about its end
  bool outside = false;                // it runs outside the sandbox
  std::uint64_t violations = 0;        // that the sandbox stopped
  std::optional<schema::ToolProgress> stopped;
  std::optional<BootId> boot;  // of the runtime that started it
  std::optional<Timestamp> started_at;
  std::optional<ProcessId> process;          // once one was let go
  std::optional<BootId> process_boot;        // of the runtime that did
  std::uint64_t never_ran = 0;               // processes of it that were never let go
  std::optional<schema::FileChange> change;  // announced: it may have been made
  std::optional<ServerAnswer> answer;        // to its newest question

  bool operator==(const ToolCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(ToolCall, (),
                      (id, tool, args, args_omitted, wrong, stage, step, said, pre_hooks,
                       permission_hooks, rewritten_late, digest, refused, outside, violations,
                       stopped, boot, started_at, process, process_boot, never_ran, change, answer))

// A decision that a turn waits for.
struct Action {
  ActionId id;
  std::optional<ToolCallId> call;
  StepId step;  // of that call
  Sequence sequence = 0;
  Timestamp at;
  schema::ActionRequired required;

  bool operator==(const Action&) const = default;
};
BOOST_DESCRIBE_STRUCT(Action, (), (id, call, step, sequence, at, required))

// A hook under way.
struct HookRun {
  std::string id;
  schema::HookPoint point = schema::HookPoint::pre_tool_use;
  std::uint64_t index = 0;  // among the policy's hooks
  schema::HookSpec hook;    // as the policy had it when it started
  std::optional<ToolCallId> call;
  StepId step;
  BootId boot;

  bool operator==(const HookRun&) const = default;
};
BOOST_DESCRIBE_STRUCT(HookRun, (), (id, point, index, hook, call, step, boot))

// A tool call that has ended and about which hooks are still heard.
struct EndedCall {
  ToolCallId id;
  StepId step;
  std::string tool;
  schema::Json args;
  bool failed = false;
  std::string preview;

  bool operator==(const EndedCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(EndedCall, (), (id, step, tool, args, failed, preview))

// --- what facts make of a call ---

// A hook has spoken about it.
void hear_hook(ToolCall& call, const schema::HookCompleted& said);
// The question of its server was answered, or taken back.
void answer_server(ToolCall& call, const schema::ActionResolved& resolved);
// It is started, or refused.
void start(ToolCall& call, const schema::ToolStarted& started, const StepId& step, Timestamp at);
// A person allowed it.
void allow(ToolCall& call, const std::optional<std::string>& digest);

}  // namespace agentrt::state
