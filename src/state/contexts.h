// state/contexts.h: folds what a turn's model requests are made of: context, tools, their size.
// Used by fold() only.
#pragma once

#include "state/session.h"

namespace agentrt::state {

// The thread begins, maybe with the conversation of another one.
void start_thread(Session& session, const schema::Fact& fact, const schema::ThreadStarted& started);
void resolve_context(Thread& thread, Turn& turn, const schema::Fact& fact,
                     const schema::ContextResolved& context);
// Remembers which parts of the instructions are stored.
void note_stored(Session& session, const schema::ContextResolved& context);
// Extends the digest of the turn's messages by the fact.
void note_said(Session& session, const schema::Fact& fact);
// Records whether the fact's object has a span of its own.
void note_span(Session& session, const schema::Fact& fact);
// `turn`: null if it has ended.
void resolve_catalog(Session& session, Turn* turn, Sequence sequence,
                     const schema::ToolCatalogResolved& catalog);
// The next request of the thread is compared with this one.
void note_sent(Thread& thread, const Turn& turn, const schema::ModelRequested& request);
void add_answer(Thread& thread, const schema::ModelCompleted& answer);
// These return whether the fact is about a compaction.
bool fold_summary_request(Turn& turn, const schema::ModelRequested& request);
bool fold_summary(Turn& turn, const schema::Fact& fact, const schema::ModelCompleted& answer);
void fold_compaction(Thread& thread, Turn& turn, Sequence sequence,
                     const schema::CompactionStarted& started);
void fold_compaction(Thread& thread, Turn& turn, Sequence sequence,
                     const schema::CompactionCompleted& completed);
void fold_compaction(Thread& thread, Turn& turn, Sequence sequence,
                     const schema::CompactionFailed& failed);

// The models that the turn could use, and the one that it uses. `turn`: null if it has ended.
void resolve_candidates(Turn* turn, const schema::RoutingCandidatesResolved& resolved);
void fold_routing(Session& session, Turn* turn, const schema::RoutingOutcome& outcome, bool single);
void fold_fallback(Session& session, Turn* turn, const schema::RoutingFallbackApplied& applied);

// Bytes that the next request of the thread has in addition.
void add_to_context(Thread& thread, std::size_t bytes);

}  // namespace agentrt::state
