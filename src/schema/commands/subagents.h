// schema/commands/subagents.h: commands for subagents. The subagent id alone identifies a subagent;
// if a session is given beside it, the subagent must belong to it.
#pragma once

#include "schema/command.h"
#include "schema/subagent_snapshot.h"

namespace agentrt::schema {

// Limits of one wait, in milliseconds and in subagents.
inline constexpr std::int64_t kWaitDefaultMs = 600'000;
inline constexpr std::int64_t kWaitMaxMs = 3'600'000;
inline constexpr std::size_t kWaitedSubagentsMax = 64;

// The reply to commands that delegate work to a subagent.
struct DelegationReply {
  SessionId session_id;
  SubagentId subagent_id;
  ThreadId thread_id;  // of the subagent
  TaskId task_id;
  TurnId turn_id;
  ChildStatus status = ChildStatus::running;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(DelegationReply, (),
                      (session_id, subagent_id, thread_id, task_id, turn_id, status, sequence))

struct SpawnSubagent {
  static constexpr CommandTraits kTraits{"spawn_subagent", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = DelegationReply;
  SessionId session_id;
  ThreadId thread_id;  // of the parent
  std::string role;
  std::string prompt;
  std::optional<SubagentId> subagent_id;
  std::optional<std::string> nickname;
  std::optional<TaskId> task_id;  // an existing task to delegate
  std::optional<std::string> model;
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<std::string>> write_roots;
  std::optional<std::string> idempotency_key;

  bool operator==(const SpawnSubagent&) const = default;
};
BOOST_DESCRIBE_STRUCT(SpawnSubagent, (),
                      (session_id, thread_id, role, prompt, subagent_id, nickname, task_id, model,
                       mode, sandbox, tools, write_roots, idempotency_key))

struct SendSubagentInput {
  static constexpr CommandTraits kTraits{"send_subagent_input", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = DelegationReply;
  std::optional<SessionId> session_id;
  SubagentId subagent_id;
  std::vector<InputPart> input;
  std::optional<std::string> idempotency_key;

  bool operator==(const SendSubagentInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(SendSubagentInput, (), (session_id, subagent_id, input, idempotency_key))

// The reply to commands that resume or close a subagent.
struct SubagentReply {
  SessionId session_id;
  SubagentId subagent_id;
  ChildStatus status = ChildStatus::running;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(SubagentReply, (), (session_id, subagent_id, status, sequence))

struct ResumeSubagent {
  static constexpr CommandTraits kTraits{"resume_subagent", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = SubagentReply;
  std::optional<SessionId> session_id;
  SubagentId subagent_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const ResumeSubagent&) const = default;
};
BOOST_DESCRIBE_STRUCT(ResumeSubagent, (), (session_id, subagent_id, reason, idempotency_key))

struct CloseSubagent {
  static constexpr CommandTraits kTraits{"close_subagent", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = SubagentReply;
  std::optional<SessionId> session_id;
  SubagentId subagent_id;
  std::optional<std::string> reason;
  std::optional<std::string> idempotency_key;

  bool operator==(const CloseSubagent&) const = default;
};
BOOST_DESCRIBE_STRUCT(CloseSubagent, (), (session_id, subagent_id, reason, idempotency_key))

// all: the wait ends when every subagent is idle; any: when one is.
BOOST_DEFINE_ENUM_CLASS(WaitMode, all, any)

struct WaitedSubagent {
  SubagentId subagent_id;
  ChildStatus status = ChildStatus::running;
  std::optional<std::string> last_message_ref;
  std::optional<std::string> preview;

  bool operator==(const WaitedSubagent&) const = default;
};
BOOST_DESCRIBE_STRUCT(WaitedSubagent, (), (subagent_id, status, last_message_ref, preview))

struct WaitSubagentsReply {
  std::vector<WaitedSubagent> subagents;  // in the order of the params
  bool timed_out = false;
};
BOOST_DESCRIBE_STRUCT(WaitSubagentsReply, (), (subagents, timed_out))

struct WaitSubagents {
  static constexpr CommandTraits kTraits{"wait_subagents", TokenScope::read, CommandEffect::reads};
  using Reply = WaitSubagentsReply;
  std::optional<SessionId> session_id;
  std::vector<SubagentId> subagent_ids;
  std::optional<WaitMode> mode;            // default: all
  std::optional<std::int64_t> timeout_ms;  // default: kWaitDefaultMs

  bool operator==(const WaitSubagents&) const = default;
};
BOOST_DESCRIBE_STRUCT(WaitSubagents, (), (session_id, subagent_ids, mode, timeout_ms))

struct ListSubagents {
  static constexpr CommandTraits kTraits{"list_subagents", TokenScope::read, CommandEffect::reads};
  SessionId session_id;
  std::optional<ThreadId> thread_id;  // only its descendants
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const ListSubagents&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListSubagents, (), (session_id, thread_id, limit, cursor))

}  // namespace agentrt::schema
