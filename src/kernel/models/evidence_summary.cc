// kernel/models/evidence_summary.cc: what can be shown about the work of a session.
#include <algorithm>

#include "kernel/models/models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct ThreadOutcome {
  ThreadId thread_id;
  Outcome outcome;
};
BOOST_DESCRIBE_STRUCT(ThreadOutcome, (), (thread_id, outcome))

struct Model {
  SessionId session_id;
  Json evidence_refs;
  Json replay_refs;
  Json review_refs;
  std::vector<TraceId> trace_ids;       // of the newest turns of the session, newest first
  std::vector<ThreadOutcome> outcomes;  // of the last turn of each thread, newest first
  std::uint64_t outcome_count = 0;
  Json notes;
};
BOOST_DESCRIBE_STRUCT(Model, (),
                      (session_id, evidence_refs, replay_refs, review_refs, trace_ids, outcomes,
                       outcome_count, notes))

}  // namespace

Result<std::string> evidence_summary(const Source& source) {
  Model model;
  model.session_id = source.view.id;
  model.evidence_refs = absent(Honesty::not_applicable, "this version exports no evidence");
  model.replay_refs = absent(Honesty::not_applicable, "this version exports no replay cases");
  model.review_refs = absent(Honesty::not_applicable, "this version exports no reviews");
  model.notes = absent(Honesty::not_applicable, "this version records no notes");
  for (auto turn = source.view.traces.rbegin(); turn != source.view.traces.rend(); ++turn)
    model.trace_ids.push_back(turn->trace);
  std::vector<const state::Turn*> last;
  for (const auto& [id, thread] : source.view.threads)
    if (includes(source, id) && thread.last) last.push_back(&*thread.last);
  std::ranges::sort(last, std::greater<>{},
                    [](const state::Turn* turn) { return turn->submitted; });
  model.outcome_count = last.size();
  if (last.size() > source.limits.model_entries_max) last.resize(source.limits.model_entries_max);
  for (const state::Turn* turn : last)
    model.outcomes.push_back({turn->ids.thread,
                              {turn->ids.turn, turn->status, turn->reason,
                               turn->ended_at.value_or(turn->submitted_at)}});
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
