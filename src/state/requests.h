// state/requests.h: the parts of the view about model requests: the one in flight, a compaction in
// progress, and what the requests of a thread consist of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/facts.h"
#include "state/calls.h"

namespace agentrt::state {

inline constexpr std::size_t kBoundariesKept = 32;
inline constexpr std::size_t kStoredTextsMax = 64;  // older ones are stored again
// The phase of the run.status with which a compaction begins. Its detail is the trigger.
inline constexpr std::string_view kCompactingPhase = "compaction";
// TurnSubmitted::work of a turn that undoes changes of files, and the phase of its run.status.
inline constexpr std::string_view kRestoreWork = "restore";

// A model request in flight.
struct ModelCall {
  ModelRequestId id;
  BootId boot;
  std::string provider;
  std::string model;
  std::string model_name;
  Timestamp at;
  Sequence first_delta = 0;  // 0: none yet
  Sequence last_delta = 0;
  Sequence first_reasoning = 0;
  Sequence last_reasoning = 0;
  std::uint64_t text_bytes = 0;
  std::vector<WrittenCall> writing;    // in the order of the answer; at most kToolCallsMax
  std::optional<std::string> purpose;  // as in model.requested
  Sequence catalog = 0;                // the complete tool.catalog.resolved that applied

  bool operator==(const ModelCall&) const = default;
};
BOOST_DESCRIBE_STRUCT(ModelCall, (),
                      (id, boot, provider, model, model_name, at, first_delta, last_delta,
                       first_reasoning, last_reasoning, text_bytes, writing, purpose, catalog))

// A compaction in progress, within a turn.
struct Compaction {
  std::string trigger;
  bool started = false;  // context.compaction.started is stored: the members below are known
  Sequence covers_through = 0;
  std::uint64_t tokens_before = 0;
  std::uint64_t pieces = 0;  // requests that write the summary
  std::uint64_t done = 0;    // of these
  Sequence summary = 0;      // the model.completed with the summary so far; 0: none yet
  std::string provider;      // that writes it
  std::string model;
  std::string model_name;
  schema::Usage usage;
  std::vector<std::string> piece_digests;  // as in context.compaction.started
  std::string summary_digest;              // of the summary so far; empty: none yet

  bool operator==(const Compaction&) const = default;
};
BOOST_DESCRIBE_STRUCT(Compaction, (),
                      (trigger, started, covers_through, tokens_before, pieces, done, summary,
                       provider, model, model_name, usage, piece_digests, summary_digest))

// A part of the instructions whose bytes the session has stored.
struct StoredText {
  std::string digest;
  std::string ref;

  bool operator==(const StoredText&) const = default;
};
BOOST_DESCRIBE_STRUCT(StoredText, (), (digest, ref))

// How a thread began that was forked from another one.
struct Fork {
  schema::ForkPoint from;
  Sequence at = 0;  // of its thread.started
  std::optional<std::string> params_hash;
  // Of other threads, with which its conversation begins; oldest first. A fork of a fork has those
  // of both.
  std::vector<schema::InheritedPart> parts;

  bool operator==(const Fork&) const = default;
};
BOOST_DESCRIBE_STRUCT(Fork, (), (from, at, params_hash, parts))

// The newest rollback of a thread. The facts of the thread after `baseline` and up to `at` are not
// part of its conversation.
struct Rollback {
  Sequence at = 0;  // of its history.rollback.completed
  Sequence baseline = 0;
  TurnId target;

  bool operator==(const Rollback&) const = default;
};
BOOST_DESCRIBE_STRUCT(Rollback, (), (at, baseline, target))

// What a turn does instead of asking a model about its input; see TurnSubmitted::work.
struct Work {
  std::string kind;
  std::optional<std::string> details;           // the instructions for it
  std::optional<schema::RestoreRange> restore;  // the facts whose changes of files it undoes
  std::uint64_t restored = 0;                   // files whose calls have begun

  bool operator==(const Work&) const = default;
};
BOOST_DESCRIBE_STRUCT(Work, (), (kind, details, restore, restored))

// What the thread's last model request was made of, besides its messages.
struct SentPrefix {
  std::string provider;
  std::string model;
  std::string tools;         // digest
  std::string instructions;  // digest

  bool operator==(const SentPrefix&) const = default;
};
BOOST_DESCRIBE_STRUCT(SentPrefix, (), (provider, model, tools, instructions))

// The size of the thread's next model request, in tokens.
struct ContextSize {
  std::uint64_t estimate = 0;
  std::uint64_t counted = 0;  // the provider's last count and the estimate of the rest; 0: unknown
  std::uint64_t limit = 0;    // of the model

  std::uint64_t used() const { return estimate > counted ? estimate : counted; }
  bool operator==(const ContextSize&) const = default;
};
BOOST_DESCRIBE_STRUCT(ContextSize, (), (estimate, counted, limit))

}  // namespace agentrt::state
