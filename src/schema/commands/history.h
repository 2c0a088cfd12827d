// schema/commands/history.h: commands about the history of a thread.
#pragma once

#include "schema/command.h"
#include "schema/values.h"

namespace agentrt::schema {

inline constexpr std::size_t kCompactInstructionsMax = 4 << 10;  // bytes

BOOST_DEFINE_ENUM_CLASS(CompactStatus, accepted, queued, unchanged)

struct CompactThreadReply {
  SessionId session_id;
  ThreadId thread_id;
  std::optional<TurnId> turn_id;  // that compacts; absent if there is nothing to compact
  CompactStatus status = CompactStatus::accepted;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(CompactThreadReply, (), (session_id, thread_id, turn_id, status, sequence))

// Replaces the older part of the conversation, as models see it, by a summary. It runs as a turn.
struct CompactThread {
  static constexpr CommandTraits kTraits{"compact_thread", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = CompactThreadReply;
  SessionId session_id;
  ThreadId thread_id;
  std::optional<std::string> instructions;  // what the summary must mention
  std::optional<std::string> idempotency_key;

  bool operator==(const CompactThread&) const = default;
};
BOOST_DESCRIBE_STRUCT(CompactThread, (), (session_id, thread_id, instructions, idempotency_key))

}  // namespace agentrt::schema
