#include "state/contexts.h"

#include <algorithm>

#include "base/tokens.h"
#include "conversation/messages/turn_messages.h"
#include "schema/sent.h"

namespace agentrt::state {

using namespace schema;

void start_thread(Session& session, const Fact& fact, const ThreadStarted& started) {
  Thread& thread = session.threads[fact.ids.thread_id];
  thread.id = fact.ids.thread_id;
  thread.status = started.status;
  if (!started.forked_from) return;
  const ForkPoint& from = *started.forked_from;
  Fork& fork = thread.fork.emplace();
  fork.from = from;
  fork.at = fact.sequence;
  fork.params_hash = started.params_hash;
  if (from.session_id != session.id && !session.forked)
    session.forked = SessionFork{from, thread.id, fact.sequence};
  if (started.inherited) {
    fork.parts = *started.inherited;
    if (started.context_boundary) thread.boundaries.push_back(*started.context_boundary);
    return;
  }
  // Logs of earlier versions name the point alone.
  if (const Thread* source = find_thread(session, from.thread_id)) {
    if (source->fork) fork.parts = source->fork->parts;
    for (const ContextBoundary& boundary : source->boundaries)
      if (boundary.sequence <= from.sequence) thread.boundaries.push_back(boundary);
  }
  fork.parts.push_back({.thread_id = from.thread_id, .up_to = from.sequence});
}

void resolve_context(Thread& thread, Turn& turn, const Fact& fact, const ContextResolved& context) {
  turn.digest.instructions = context.instructions_digest.value_or("");
  if (!context.environment || !context.environment->same_as) {
    thread.environment.reset();
    if (context.environment) thread.environment = complete(*context.environment);
    thread.environment_full = fact.sequence;
  }
  thread.environment_turn = turn.ids.turn;
  thread.environment_at = fact.sequence;
  if (context.surroundings) thread.told = context.surroundings;
  if (context.omitted_through > thread.omitted_through) {
    thread.omitted_through = *context.omitted_through;
    thread.prefix_broken = "omitted";
  }
  if (!context.tokens) return;
  const ContextTokens& tokens = *context.tokens;
  thread.context = {tokens.used, tokens.source == "usage" ? tokens.used : 0, tokens.limit};
}

void note_stored(Session& session, const ContextResolved& context) {
  auto& texts = session.stored_texts;
  for (const ContextRef& part : context.instruction_refs) {
    if (!part.output_ref || !part.output_digest) continue;
    if (std::ranges::find(texts, *part.output_digest, &StoredText::digest) != texts.end()) continue;
    if (texts.size() == kStoredTextsMax) texts.erase(texts.begin());
    texts.push_back({*part.output_digest, *part.output_ref});
  }
}

namespace {

Turn* active_turn(Session& session, const Ids& ids) {
  const auto thread = session.threads.find(ids.thread_id);
  if (thread == session.threads.end() || !thread->second.active) return nullptr;
  Turn& turn = *thread->second.active;
  return turn.ids.turn == ids.turn_id ? &turn : nullptr;
}

// A request for a piece of a summary is determined by the piece and the summary so far.
std::optional<std::string> summary_digest(const Turn& turn, const ModelRequested& request) {
  const auto& compaction = turn.compaction;
  if (!compaction || compaction->done >= compaction->piece_digests.size()) return std::nullopt;
  return conversation::request_digest({.model = request.model,
                                       .parameters = R"({"purpose":"compaction"})",
                                       .instructions = compaction->piece_digests[compaction->done],
                                       .tools = {},
                                       .history = {},
                                       .turn = compaction->summary_digest});
}

}  // namespace

void note_said(Session& session, const Fact& fact) {
  if (fact.ids.turn_id.empty() || !is_sent(type_of(fact.payload))) return;
  if (Turn* turn = active_turn(session, fact.ids)) conversation::take(turn->digest, fact);
}

void note_span(Session& session, const Fact& fact) {
  const bool has_span = std::holds_alternative<ModelRequested>(fact.payload) ||
                        std::holds_alternative<ToolStarted>(fact.payload) ||
                        std::holds_alternative<ProcessStarted>(fact.payload) ||
                        std::holds_alternative<HookStarted>(fact.payload);
  if (!has_span) return;
  const auto turn = std::ranges::find(session.traces, fact.ids.turn_id, &TurnTrace::turn);
  if (turn == session.traces.end()) return;
  const SpanId shared = span_of(fact.ids.session, kTurnSpan, fact.ids.turn_id.text());
  if (fact.ids.span_id.empty() || fact.ids.span_id == shared || fact.ids.trace_id != turn->trace)
    turn->joined = false;
}

void complete(const Session& session, Draft& draft) {
  auto* request = std::get_if<ModelRequested>(&draft.payload);
  if (!request || request->request_digest) return;
  const Thread* thread = find_thread(session, draft.ids.thread_id);
  if (!thread || !thread->active || thread->active->ids.turn != draft.ids.turn_id) return;
  const Turn& turn = *thread->active;
  if (request->purpose)
    request->request_digest = summary_digest(turn, *request);
  else
    request->request_digest = conversation::request_digest(turn.digest, request->model, "{}");
}

void resolve_catalog(Session& session, Turn* turn, Sequence sequence,
                     const ToolCatalogResolved& catalog) {
  if (catalog.tools) {
    session.catalog = sequence;
    session.catalog_digest = catalog.digest.value_or("");
    session.catalog_bytes = 0;
    session.server_tools.clear();
    for (const CatalogTool& tool : *catalog.tools) {
      session.catalog_bytes += sent_bytes(tool);
      if (tool.runtime_owner != kOwnTools && session.server_tools.size() < kServerToolsMax)
        session.server_tools.push_back({tool.tool_name, tool.is_read_only});
    }
  }
  if (!turn) return;
  turn->catalog = session.catalog;  // a fact without tools names the newest one that has them
  turn->digest.tools = catalog.offered_digest.value_or("");
}

void note_sent(Thread& thread, const Turn& turn, const ModelRequested& request) {
  thread.sent =
      SentPrefix{request.provider, request.model, turn.digest.tools, turn.digest.instructions};
  thread.prefix_broken.reset();
}

void add_answer(Thread& thread, const ModelCompleted& answer) {
  std::size_t bytes = answer.text.value_or("").size();
  for (const RequestedCall& call : answer.tool_calls) bytes += call.args.text.size();
  add_to_context(thread, bytes);
  if (answer.usage.input_tokens > 0)
    thread.context.counted = answer.usage.input_tokens + answer.usage.output_tokens;
}

bool fold_summary_request(Turn& turn, const ModelRequested& request) {
  if (!request.purpose || !turn.compaction) return false;
  turn.compaction->provider = request.provider;
  turn.compaction->model = request.model;
  turn.compaction->model_name = request.model_name;
  return true;
}

bool fold_summary(Turn& turn, const Fact& fact, const ModelCompleted& answer) {
  if (!answer.purpose) return false;
  turn.call.reset();
  turn.retries = 0;
  ++turn.ended_by_provider;
  turn.usage = sum(turn.usage, answer.usage);
  if (!turn.compaction) return true;
  ++turn.compaction->done;
  turn.compaction->summary = fact.sequence;
  if (const auto message = conversation::answer_of(fact.ids.session, answer))
    turn.compaction->summary_digest = conversation::digest_of(*message);
  turn.compaction->usage = sum(turn.compaction->usage, answer.usage);
  return true;
}

void fold_compaction(Thread& /*thread*/, Turn& turn, Sequence /*sequence*/,
                     const CompactionStarted& started) {
  Compaction& compaction = turn.compaction ? *turn.compaction : turn.compaction.emplace();
  compaction.trigger = started.trigger.value_or("");
  compaction.started = true;
  compaction.covers_through = started.covers_through.value_or(0);
  compaction.tokens_before = started.tokens_before.value_or(0);
  compaction.pieces = started.pieces.value_or(0);
  compaction.piece_digests = started.piece_digests.value_or(std::vector<std::string>{});
}

void fold_compaction(Thread& thread, Turn& turn, Sequence sequence,
                     const CompactionCompleted& completed) {
  turn.compaction.reset();
  if (thread.boundaries.size() == kBoundariesKept)
    thread.boundaries.erase(thread.boundaries.begin());
  thread.boundaries.push_back({.summary_ref = completed.summary_ref.value_or(""),
                               .continuation_ref = completed.continuation_ref.value_or(""),
                               .covers_through = completed.covers_through.value_or(0),
                               .sequence = sequence});
  thread.prefix_broken = "compacted";
  thread.context.estimate = completed.tokens_after.value_or(0);
  thread.context.counted = 0;
}

void fold_compaction(Thread& /*thread*/, Turn& turn, Sequence /*sequence*/,
                     const CompactionFailed& /*failed*/) {
  turn.compaction.reset();
  turn.compaction_failed = true;
  if (!turn.work) turn.prepared = false;  // it is prepared again, without its oldest turns
}

void add_to_context(Thread& thread, std::size_t bytes) {
  thread.context.estimate += estimated_tokens(bytes);
  if (thread.context.counted > 0) thread.context.counted += estimated_tokens(bytes);
}

void resolve_candidates(Turn* turn, const RoutingCandidatesResolved& resolved) {
  if (turn) turn->candidates = resolved.candidates;
}

void fold_routing(Session& session, Turn* turn, const RoutingOutcome& outcome, bool single) {
  session.routing.candidate_count = outcome.candidate_count;
  session.routing.single_candidate = single;
  session.routing.selected_provider = outcome.selected_provider;
  session.routing.selected_model = outcome.selected_model;
  session.routing.decision_reason = outcome.decision_reason;
  if (!turn) return;
  turn->model_name = outcome.selected_name;
  turn->provider = outcome.selected_provider;
  turn->model = outcome.selected_model;
  turn->fallback = outcome.fallback_chain;
}

// Retries and answers are counted for each model anew.
void fold_fallback(Session& session, Turn* turn, const RoutingFallbackApplied& applied) {
  fold_routing(session, turn, applied, false);
  if (!turn) return;
  turn->switched = true;
  turn->retries = 0;
  turn->ended_by_provider = 0;
}

}  // namespace agentrt::state
