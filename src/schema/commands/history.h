// schema/commands/history.h: commands about the history of a thread.
#pragma once

#include "schema/command.h"
#include "schema/rollback.h"
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

inline constexpr std::size_t kForkDepthMax = 64;  // forks of forks

struct ForkThreadReply {
  SessionId session_id;
  ThreadId thread_id;  // the new one
  ForkPoint forked_from;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ForkThreadReply, (), (session_id, thread_id, forked_from, sequence))

// Starts a thread whose conversation begins with that of another thread, up to the end of a turn.
struct ForkThread {
  static constexpr CommandTraits kTraits{"fork_thread", TokenScope::submit, CommandEffect::mutates};
  using Reply = ForkThreadReply;
  SessionId session_id;
  ThreadId thread_id;
  std::optional<TurnId> turn_id;  // the last turn to inherit; default: the one that ended last
  std::optional<ThreadId> new_thread_id;
  std::optional<SessionId> new_session_id = {};  // default: the same session
  std::optional<std::string> idempotency_key;

  bool operator==(const ForkThread&) const = default;
};
BOOST_DESCRIBE_STRUCT(ForkThread, (),
                      (session_id, thread_id, turn_id, new_thread_id, new_session_id,
                       idempotency_key))

// preview: nothing is changed. files: a turn gives files back the content that they had.
BOOST_DEFINE_ENUM_CLASS(RestoreMode, none, preview, files)

struct RollbackThreadReply {
  SessionId session_id;
  ThreadId thread_id;
  std::vector<TurnId> removed_turns;  // the newest kRollbackListMax, oldest first
  std::uint64_t removed_turn_count = 0;
  std::vector<RollbackEffect> effects;  // the newest kRollbackListMax
  std::uint64_t effect_count = 0;
  std::vector<RollbackFile> files;  // the first kRollbackListMax by path
  std::uint64_t file_count = 0;
  std::optional<TurnId> restore_turn_id;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(RollbackThreadReply, (),
                      (session_id, thread_id, removed_turns, removed_turn_count, effects,
                       effect_count, files, file_count, restore_turn_id, sequence))

// Makes a turn the last one of its thread again. Later turns stay in the log, but no model sees
// them any more.
struct RollbackThread {
  static constexpr CommandTraits kTraits{"rollback_thread", TokenScope::submit,
                                         CommandEffect::mutates};
  using Reply = RollbackThreadReply;
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;  // the last turn to keep
  std::optional<RestoreMode> restore;
  std::optional<bool> interrupt;    // cancel what is open in the removed part
  std::optional<bool> interactive;  // whether a question may wait for a person; default: true
  std::optional<std::string> idempotency_key;

  bool operator==(const RollbackThread&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackThread, (),
                      (session_id, thread_id, turn_id, restore, interrupt, interactive,
                       idempotency_key))

}  // namespace agentrt::schema
