#include "state/rollbacks.h"

#include "state/read_models.h"

namespace agentrt::state {

using namespace schema;

namespace {

// The ended turn as the view holds the last turn of a thread.
Turn ended_turn(const TurnSnapshot& from, const std::optional<TurnOptions>& options) {
  Turn turn;
  turn.ids = {from.thread_id, from.turn_id,    from.task_id,
              from.run_id,    from.attempt_id, from.trace_id};
  turn.status = from.status;
  turn.reason = from.reason;
  turn.source = from.source.value_or("");
  turn.preview = from.input_preview;
  turn.submitted = from.first_sequence;
  turn.submitted_at = from.submitted_at;
  turn.started_at = from.started_at;
  turn.ended_at = from.completed_at;
  turn.requests = from.model_requests;
  turn.provider = from.provider;
  turn.model = from.model;
  turn.usage = from.usage.value_or(Usage{});
  turn.answer_preview = from.output_preview;
  turn.answer = sequence_in(from.output_ref);
  turn.error = from.error;
  turn.end_sequence = from.last_sequence.value_or(0);
  turn.options = options.value_or(TurnOptions{});
  return turn;
}

ObjectRow row_of(std::string_view kind, const Session& session, const Fact& fact,
                 std::string record) {
  return {.kind = std::string(kind),
          .id = thread_row_id(session.id, fact.ids.thread_id) + "/" + std::to_string(fact.sequence),
          .parent = fact.ids.thread_id.text(),
          .first = fact.sequence,
          .status = "completed",
          .open = false,
          .record = std::move(record)};
}

}  // namespace

// What the requests after the rollback consist of is resolved anew: the removed turns may have
// changed it, and what held before them is not in the view.
void fold_rollback(Thread& thread, const Fact& fact, const RollbackCompleted& p) {
  const Sequence baseline = p.baseline_sequence.value_or(0);
  thread.rollback = Rollback{fact.sequence, baseline, p.target_turn_id};
  ++thread.rollbacks;
  if (p.target_turn) thread.last = ended_turn(*p.target_turn, p.target_options);
  std::erase_if(thread.boundaries, [&](const ContextBoundary& boundary) {
    return !boundary.session_id && boundary.sequence > baseline;
  });
  if (thread.boundaries.empty() && p.context_boundary)
    thread.boundaries.push_back(*p.context_boundary);
  thread.prefix_broken = "rolled_back";
  thread.omitted_through = 0;
  thread.told.reset();
  thread.context.estimate = thread.context.counted = 0;
}

bool fold_restore_call(Turn& turn, const Fact& fact, const ItemStarted& started) {
  if (!turn.work || !turn.work->restore || !started.args) return false;
  ToolCall call;
  call.id = fact.ids.tool_call_id;
  call.tool = started.tool_name.value_or("");
  call.args = *started.args;
  call.step = fact.ids.step_id;
  turn.tools.push_back(std::move(call));
  ++turn.work->restored;
  return true;
}

// The policy that judges the calls was read in this boot.
void fold_restore_status(Turn& turn, const RunStatus& status) {
  if (turn.work && turn.work->restore && status.phase == kRestoreWork) turn.prepared = true;
}

std::optional<ObjectRow> boundary_row(const Session& session, const Fact& fact) {
  if (const auto* p = std::get_if<RollbackCompleted>(&fact.payload)) {
    const RollbackRecord record{.sequence = fact.sequence,
                                .baseline_sequence = p->baseline_sequence.value_or(0),
                                .target_turn_id = p->target_turn_id,
                                .removed_turn_count = p->removed_turn_count.value_or(0),
                                .restore_turn_id = p->restore_turn_id,
                                .at = fact.at};
    return row_of(kRollbackKind, session, fact, to_json(record));
  }
  const auto* completed = std::get_if<CompactionCompleted>(&fact.payload);
  if (!completed) return std::nullopt;
  const ContextBoundary record{.summary_ref = completed->summary_ref.value_or(""),
                               .continuation_ref = completed->continuation_ref.value_or(""),
                               .covers_through = completed->covers_through.value_or(0),
                               .sequence = fact.sequence};
  return row_of(kCompactionKind, session, fact, to_json(record));
}

}  // namespace agentrt::state
