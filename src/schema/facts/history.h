// schema/facts/history.h: compaction and rollback of old context; evidence.
#pragma once

#include "schema/rollback.h"
#include "schema/scope.h"
#include "schema/turn_snapshot.h"
#include "schema/values.h"

namespace agentrt::schema {

// The part of a thread's conversation up to `coversThrough` is about to be replaced by a summary.
struct CompactionStarted {
  static constexpr std::string_view kType = "context.compaction.started";
  using Scope = TurnScope;
  std::optional<std::string> trigger = {};                 // manual, automatic, overflow
  std::optional<std::vector<TurnId>> affected_turns = {};  // read only: see affected_turn_count
  std::optional<std::uint64_t> affected_turn_count = {};
  std::optional<Sequence> covers_through = {};  // may lie inside the running turn
  std::optional<std::uint64_t> tokens_before = {};
  std::optional<std::uint64_t> pieces = {};  // requests that write the summary, one after the other
  // The oldest text that does not fit into the pieces, in bytes: the summary does not contain it.
  std::optional<std::uint64_t> omitted_bytes = {};
  // Of each of them, without the summary so far (docs/replay.md).
  std::optional<std::vector<std::string>> piece_digests = {};
  std::optional<std::uint64_t> window_tokens = {};  // that the pieces were made for

  bool operator==(const CompactionStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(CompactionStarted, (),
                      (trigger, affected_turns, affected_turn_count, covers_through, tokens_before,
                       pieces, omitted_bytes, piece_digests, window_tokens))

// Compaction never drops an open action. Later requests contain the continuation instead of the
// covered part.
struct CompactionCompleted {
  static constexpr std::string_view kType = "context.compaction.completed";
  using Scope = TurnScope;
  std::optional<std::string> summary_ref = {};
  std::optional<std::string> continuation_ref = {};
  std::optional<Sequence> covers_through = {};
  std::optional<std::uint64_t> tokens_before = {};
  std::optional<std::uint64_t> tokens_after = {};
  std::optional<std::vector<ActionId>> preserved_action_ids = {};
  std::optional<std::vector<std::string>> preserved_incidents = {};
  std::optional<std::vector<std::string>> preserved_refs = {};
  std::optional<Usage> usage = {};  // of all its requests

  bool operator==(const CompactionCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(CompactionCompleted, (),
                      (summary_ref, continuation_ref, covers_through, tokens_before, tokens_after,
                       preserved_action_ids, preserved_incidents, preserved_refs, usage))

// The thread stays as it was.
struct CompactionFailed {
  static constexpr std::string_view kType = "context.compaction.failed";
  using Scope = TurnScope;
  std::optional<Failure> error = {};

  bool operator==(const CompactionFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(CompactionFailed, (), (error))

// The thread is about to go back to the end of the target turn. Always followed by
// history.rollback.completed in the same append.
struct RollbackStarted {
  static constexpr std::string_view kType = "history.rollback.started";
  using Scope = ThreadScope;
  TurnId target_turn_id;

  bool operator==(const RollbackStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackStarted, (), (target_turn_id))

// The target turn is the last one of the thread. The conversation consists of the facts of the
// thread up to `baselineSequence` and those after this fact; the facts in between stay in the log.
struct RollbackCompleted {
  static constexpr std::string_view kType = "history.rollback.completed";
  using Scope = ThreadScope;
  TurnId target_turn_id;
  std::optional<std::vector<TurnId>> removed_turns = {};  // the newest kRollbackListMax
  std::optional<std::uint64_t> removed_turn_count = {};
  std::optional<std::vector<ActionId>> cancelled_action_ids = {};
  std::optional<Sequence> baseline_sequence = {};  // the end of the target turn
  std::optional<RollbackAffected> affected = {};
  std::optional<std::vector<RollbackEffect>> effects = {};  // the newest kRollbackListMax
  std::optional<std::uint64_t> effect_count = {};
  std::optional<TurnId> restore_turn_id = {};  // that undoes changes of files
  // The target turn, as it is the last one of the thread again.
  std::optional<TurnSnapshot> target_turn = {};
  std::optional<TurnOptions> target_options = {};
  std::optional<ContextBoundary> context_boundary = {};  // that applies again; absent: none

  bool operator==(const RollbackCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(RollbackCompleted, (),
                      (target_turn_id, removed_turns, removed_turn_count, cancelled_action_ids,
                       baseline_sequence, affected, effects, effect_count, restore_turn_id,
                       target_turn, target_options, context_boundary))

struct EvidenceChanged {
  static constexpr std::string_view kType = "evidence.changed";
  std::optional<std::string> pack_ref;
  std::optional<std::string> replay_ref;
  std::optional<std::string> review_ref;
  std::optional<Json> verification_outcomes;
  // for each signal: exported, or the reason why not
  std::optional<std::map<std::string, std::string>> signals;

  bool operator==(const EvidenceChanged&) const = default;
};
BOOST_DESCRIBE_STRUCT(EvidenceChanged, (),
                      (pack_ref, replay_ref, review_ref, verification_outcomes, signals))

}  // namespace agentrt::schema
