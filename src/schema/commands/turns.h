// schema/commands/turns.h: commands that submit, steer and continue turns.
#pragma once

#include "schema/command.h"

namespace agentrt::schema {

struct SubmitTurnReply {
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  TaskId task_id;
  Status status = Status::accepted;
  std::optional<std::uint64_t> position;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(SubmitTurnReply, (),
                      (session_id, thread_id, turn_id, task_id, status, position, sequence))

struct SubmitTurn {
  static constexpr CommandTraits kTraits{"submit_turn", TokenScope::submit, CommandEffect::mutates};
  using Reply = SubmitTurnReply;
  std::optional<SessionId> session_id;
  std::optional<ThreadId> thread_id;
  std::optional<TurnId> turn_id;
  std::vector<InputPart> input;
  std::optional<TurnOptions> options;
  std::optional<Json> metadata;
  std::optional<TaskId> task_id;
  std::optional<std::string> idempotency_key;

  bool operator==(const SubmitTurn&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubmitTurn, (),
                      (session_id, thread_id, turn_id, input, options, metadata, task_id,
                       idempotency_key))

struct InterruptTurnReply {
  SessionId session_id;
  bool interrupted = false;  // false: no turn was running
  std::vector<TurnId> turn_ids;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(InterruptTurnReply, (), (session_id, interrupted, turn_ids, sequence))

struct InterruptTurn {
  static constexpr CommandTraits kTraits{"interrupt_turn", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = InterruptTurnReply;
  SessionId session_id;
  std::optional<ThreadId> thread_id;
  std::optional<TurnId> turn_id;
  std::optional<std::string> reason;
  std::optional<QueueKeep> queue;
  std::optional<ProcessKeep> processes;   // background processes that the turns started
  std::optional<SubagentKeep> subagents;  // of the interrupted turns' threads; default: end
  std::optional<std::string> idempotency_key;

  bool operator==(const InterruptTurn&) const = default;
};
BOOST_DESCRIBE_STRUCT(InterruptTurn, (),
                      (session_id, thread_id, turn_id, reason, queue, processes, subagents,
                       idempotency_key))

struct ResumeThreadReply {
  SessionId session_id;
  ThreadId thread_id;
  bool resumed = false;  // false: neither the thread nor a subagent of it had a turn to resume
  Status status = Status::idle;
  std::optional<TurnId> turn_id;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ResumeThreadReply, (),
                      (session_id, thread_id, resumed, status, turn_id, sequence))

struct ResumeThread {
  static constexpr CommandTraits kTraits{"resume_thread", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = ResumeThreadReply;
  SessionId session_id;
  ThreadId thread_id;
  std::optional<std::string> resume_token;
  std::optional<std::string> idempotency_key;

  bool operator==(const ResumeThread&) const = default;
};
BOOST_DESCRIBE_STRUCT(ResumeThread, (), (session_id, thread_id, resume_token, idempotency_key))

// The reply to both commands that change a queue.
struct QueueReply {
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  std::vector<TurnId> queue;  // the order after the change
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(QueueReply, (), (session_id, thread_id, turn_id, queue, sequence))

struct RemoveQueuedTurn {
  static constexpr CommandTraits kTraits{"remove_queued_turn", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = QueueReply;
  SessionId session_id;
  ThreadId thread_id;
  TurnId queued_turn_id;
  std::optional<std::string> idempotency_key;

  bool operator==(const RemoveQueuedTurn&) const = default;
};
BOOST_DESCRIBE_STRUCT(RemoveQueuedTurn, (),
                      (session_id, thread_id, queued_turn_id, idempotency_key))

struct PromoteQueuedTurn {
  static constexpr CommandTraits kTraits{"promote_queued_turn", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = QueueReply;
  SessionId session_id;
  ThreadId thread_id;
  TurnId queued_turn_id;
  std::optional<std::string> idempotency_key;

  bool operator==(const PromoteQueuedTurn&) const = default;
};
BOOST_DESCRIBE_STRUCT(PromoteQueuedTurn, (),
                      (session_id, thread_id, queued_turn_id, idempotency_key))

}  // namespace agentrt::schema
