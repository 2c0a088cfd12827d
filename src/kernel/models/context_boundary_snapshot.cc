// kernel/models/context_boundary_snapshot.cc: what the model of a thread was given with its newest
// prepared turn, and what lies before that.
#include <array>
#include <ranges>

#include "kernel/models/models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Selected {
  TurnId turn_id;
  Sequence sequence = 0;  // of its context.resolved
  std::vector<ContextRef> instruction_refs;
  std::vector<ContextRef> workspace_refs;
  std::vector<ContextRef> memory_refs;
  std::vector<ContextRef> omitted;
  std::vector<ContextRef> missing;
};
BOOST_DESCRIBE_STRUCT(Selected, (),
                      (turn_id, sequence, instruction_refs, workspace_refs, memory_refs, omitted,
                       missing))

// The newest rollbacks of the thread, newest first.
struct Rollbacks {
  std::uint64_t total = 0;
  std::vector<Json> newest;  // RollbackRecord objects, as stored in the index
};
BOOST_DESCRIBE_STRUCT(Rollbacks, (), (total, newest))

struct Model {
  SessionId session_id;
  ThreadId thread_id;
  std::uint64_t turns = 0;  // submitted to the thread
  Json selected;            // Selected, or why there is none
  // The compactions that were in force one after the other, newest first. The first one is the
  // boundary now.
  std::vector<ContextBoundary> compactions;
  Json rollbacks;  // Rollbacks, or why there are none
  Json forked_from;
  std::vector<Incident> warnings;
  std::uint64_t unknown_facts = 0;  // of the session, of types that this version does not know
  Json missing_facts;
};
BOOST_DESCRIBE_STRUCT(Model, (),
                      (session_id, thread_id, turns, selected, compactions, rollbacks, forked_from,
                       warnings, unknown_facts, missing_facts))

Result<Json> rollbacks(const Source& source, const ThreadId& thread) {
  store::IndexQuery query{
      .kind = std::string(kRollbackKind), .session = source.view.id, .parent = thread.text()};
  query.limit = source.limits.model_entries_max;
  Rollbacks out;
  TRY_ASSIGN(out.total, source.store.count(query));
  TRY_ASSIGN(const auto rows, source.store.list(query));
  for (const store::IndexEntry& row : rows) out.newest.push_back({row.row.record});
  if (out.total == 0) return absent(Honesty::not_applicable, "the thread was not rolled back");
  return part(out);
}

Result<Json> selected(const Source& source, const state::Thread& thread) {
  if (thread.environment_at == 0)
    return absent(Honesty::unknown, "no turn of this thread has been prepared");
  TRY_ASSIGN(const auto events,
             source.store.events_at(source.view.id, std::array{thread.environment_at}));
  TRY_ASSIGN(const Fact fact, decode(events.front().event));
  const auto* context = std::get_if<ContextResolved>(&fact.payload);
  if (!context) return absent(Honesty::unavailable, "its context.resolved cannot be read");
  return part(Selected{fact.ids.turn_id, fact.sequence, context->instruction_refs,
                       context->workspace_refs, context->memory_refs, context->omitted,
                       context->missing});
}

}  // namespace

Result<std::string> context_boundary_snapshot(const Source& source) {
  Model model;
  model.session_id = source.view.id;
  model.thread_id = *source.thread;
  TRY_ASSIGN(model.rollbacks, rollbacks(source, model.thread_id));
  model.forked_from = absent(Honesty::not_applicable, "the thread is not a fork");
  model.missing_facts =
      absent(Honesty::not_applicable, "a session with missing facts cannot be read");
  model.unknown_facts = source.view.unknown_facts;
  const state::Thread* thread = state::find_thread(source.view, *source.thread);
  if (!thread) {
    model.selected = absent(Honesty::unavailable, "the thread is closed");
    return finished(model, source);
  }
  model.turns = thread->turns;
  if (thread->fork) model.forked_from = part(thread->fork->from);
  TRY_ASSIGN(model.selected, selected(source, *thread));
  for (const ContextBoundary& boundary : thread->boundaries | std::views::reverse)
    model.compactions.push_back(boundary);
  for (const Incident& incident : thread->incidents)
    if (incident.kind == "warning") model.warnings.push_back(incident);
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
