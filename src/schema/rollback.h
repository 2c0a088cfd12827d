// schema/rollback.h: values about parts of a conversation: what a rollback leaves behind in the
// world, the compaction that is in force, and the parts of other threads that a fork begins with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/values.h"

namespace agentrt::schema {

inline constexpr std::size_t kRollbackListMax = 100;  // entries of each list about a rollback

BOOST_DEFINE_ENUM_CLASS(EffectKind, command, mcp_call, process, file)
// not_undoable: a command or MCP call ran. running: a background process. Of a file: restorable: it
// still has the content that the removed turns left, and its old content is known; changed_since:
// something else has changed it; unknown: its old content or its state now is not known.
BOOST_DEFINE_ENUM_CLASS(EffectState, not_undoable, running, restorable, changed_since, unknown)

// What a removed turn did and a rollback does not undo by itself.
struct RollbackEffect {
  EffectKind kind = EffectKind::command;
  EffectState state = EffectState::not_undoable;
  std::optional<TurnId> turn_id = {};
  std::optional<ToolCallId> tool_call_id = {};
  std::optional<ProcessId> process_id = {};
  std::optional<std::string> tool_name = {};
  std::optional<std::string> text = {};  // the beginning of the command, or the path

  bool operator==(const RollbackEffect&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackEffect, (),
                      (kind, state, turn_id, tool_call_id, process_id, tool_name, text))

struct RollbackFile {
  std::string path;
  EffectState state = EffectState::unknown;

  bool operator==(const RollbackFile&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackFile, (), (path, state))

// What belongs to the removed turns; at most kRollbackListMax of each.
struct RollbackAffected {
  std::vector<std::string> tools;  // that they called
  std::vector<ArtifactId> artifacts;
  std::vector<SubagentId> subagents;
  std::vector<JobId> jobs;
  std::vector<std::string> read_models;  // that changed with the rollback

  bool operator==(const RollbackAffected&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackAffected, (), (tools, artifacts, subagents, jobs, read_models))

// The compaction from which on a conversation is sent to models.
struct ContextBoundary {
  std::string summary_ref;
  std::string continuation_ref;
  Sequence covers_through = 0;
  Sequence sequence = 0;  // of its context.compaction.completed
  // The session that these sequences and outputs belong to; absent: the thread's own.
  std::optional<SessionId> session_id = {};

  bool operator==(const ContextBoundary&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContextBoundary, (),
                      (summary_ref, continuation_ref, covers_through, sequence, session_id))

// The record of the index row of a rollback; that of a compaction is a ContextBoundary. Both are
// listed under their thread.
struct RollbackRecord {
  Sequence sequence = 0;  // of its history.rollback.completed
  Sequence baseline_sequence = 0;
  TurnId target_turn_id;
  std::uint64_t removed_turn_count = 0;
  std::optional<TurnId> restore_turn_id = {};
  Timestamp at;

  bool operator==(const RollbackRecord&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackRecord, (),
                      (sequence, baseline_sequence, target_turn_id, removed_turn_count,
                       restore_turn_id, at))

inline constexpr std::string_view kRollbackKind = "rollback";
inline constexpr std::string_view kCompactionKind = "compaction";

// A part of another thread with which the conversation of a fork begins.
struct InheritedPart {
  ThreadId thread_id;
  Sequence up_to = 0;                        // the end of the last turn that belongs to it
  std::optional<SessionId> session_id = {};  // absent: the session of the fork

  bool operator==(const InheritedPart&) const = default;
};
BOOST_DESCRIBE_STRUCT(InheritedPart, (), (thread_id, up_to, session_id))

// The range of facts whose file changes a turn undoes.
struct RestoreRange {
  Sequence after = 0;    // the end of the last turn that was kept
  Sequence through = 0;  // the history.rollback.completed

  bool operator==(const RestoreRange&) const = default;
};
BOOST_DESCRIBE_STRUCT(RestoreRange, (), (after, through))

// How one file gets back the content that it had before the removed turns.
struct FileRestore {
  std::string path;                      // absolute
  std::optional<std::string> from = {};  // its digest now; absent: the file was removed
  std::optional<std::string> to = {};    // its digest then; absent: it did not exist
  // Refs of the diffs to apply backwards, in this order. After them, or instead of them, `bytes` is
  // the ref of the content itself.
  std::vector<std::string> diffs = {};
  std::optional<std::string> bytes = {};

  bool operator==(const FileRestore&) const = default;
};
BOOST_DESCRIBE_STRUCT(FileRestore, (), (path, from, to, diffs, bytes))

}  // namespace agentrt::schema
