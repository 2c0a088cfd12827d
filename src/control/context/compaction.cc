// control/context/compaction.cc: decides when a conversation is compacted, and each step of it.
//
// A compaction happens within a turn, between two of its model requests: a run.status announces it,
// the engine plans it (context.compaction.started), requests write the summary piece by piece, and
// the engine stores the result (context.compaction.completed). compact_thread submits a turn that
// does only this. After a restart the turn continues with the next piece.
#include <algorithm>

#include <fmt/format.h>

#include "control/context/compaction.h"
#include "control/flow.h"
#include "control/jobs/jobs.h"
#include "control/output_facts.h"
#include "control/turn_facts.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::string_view kPurpose = "compaction";
constexpr std::string_view kWork = "compaction";

void request_summary(Facts& facts, const Turn& turn, const Inputs& inputs, FreshIds& ids,
                     const state::Compaction& compaction) {
  facts.add(ModelScope{facts.of(turn.ids), ids.next<ModelRequestId>()},
            ModelRequested{.provider = compaction.provider,
                           .model = compaction.model,
                           .model_name = compaction.model_name,
                           .request_ref = state::log_ref(turn.submitted),
                           .number = compaction.done + 1,
                           .boot_id = inputs.boot,
                           .purpose = std::string(kPurpose)});
}

// The thread stays as it was. A turn that needed the compaction is prepared again, without its
// oldest turns; one that does nothing else fails.
void fail_compaction(Facts& facts, const Thread& thread, const Turn& turn, const Failure& error) {
  facts.add(facts.of(turn.ids), CompactionFailed{error});
  if (turn.work) {
    Turn ended = turn;
    ended.compaction.reset();
    facts.fail(ended, error);
    facts.start_next(thread);
    return;
  }
  facts.add(facts.of(turn.ids),
            RuntimeWarning{.code = "compaction_failed",
                           .message = "the conversation could not be compacted, so its oldest "
                                      "turns are not sent: " +
                                      error.message,
                           .boot_id = {}});
  facts.add(facts.of(turn.ids),
            RunStatus{.status = Status::preparing, .phase = "prepare", .title = "Preparing"});
}

std::optional<std::uint64_t> present(std::uint64_t number) {
  return number > 0 ? std::optional(number) : std::nullopt;
}

std::vector<ActionId> open_actions(const Session& view) {
  std::vector<ActionId> out;
  for (const auto& [_, thread] : view.threads)
    if (thread.active && thread.active->action) out.push_back(thread.active->action->id);
  return out;
}

}  // namespace

void begin_compaction(Facts& facts, const Turn& turn, std::string_view trigger) {
  facts.add(facts.of(turn.ids), RunStatus{.status = Status::running,
                                          .phase = std::string(state::kCompactingPhase),
                                          .title = "Compacting the conversation",
                                          .detail = std::string(trigger)});
}

bool may_compact(const Thread& thread, const Turn& turn, const Settings& settings) {
  const bool has_something = thread.last || turn.answer > 0 || thread.fork;
  return settings.compacts && has_something && !turn.compaction_failed && !turn.item && !turn.work;
}

bool compacts_at(const Thread& thread, const Turn& turn, const Settings& settings,
                 std::uint64_t used, std::uint64_t limit) {
  return limit > 0 && may_compact(thread, turn, settings) &&
         used * 100 > limit * settings.compact_percent;
}

bool Flow::compacts_first() {
  const Turn& now = turn();
  if (now.compaction) {
    const state::Compaction compaction = *now.compaction;
    if (compaction.started && compaction.done < compaction.pieces)
      request_summary(facts_, now, inputs_, ids_, compaction);
    return true;
  }
  if (now.work && now.work->kind == kWork) {
    begin_compaction(facts_, now, "manual");
    return true;
  }
  const Thread& thread = *find_thread(after_, thread_.id);
  const state::ContextSize& size = thread.context;
  if (!compacts_at(thread, now, *inputs_.settings, size.used(), size.limit)) return false;
  begin_compaction(facts_, now, "automatic");
  return true;
}

Decided compaction_planned(const Session& view, const ReportCompactionPlanned& report,
                           Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked) return Unchanged{};
  const Turn& turn = *thread->active;
  if (!turn.compaction || turn.compaction->started) return Unchanged{};
  Facts facts{view, inputs};
  facts.add(facts.of(turn.ids), CompactionStarted{.trigger = turn.compaction->trigger,
                                                  .affected_turn_count = report.turns,
                                                  .covers_through = report.covers_through,
                                                  .tokens_before = report.tokens_before,
                                                  .pieces = report.pieces,
                                                  .omitted_bytes = present(report.omitted_bytes),
                                                  .piece_digests = report.piece_digests,
                                                  .window_tokens = report.window_tokens});
  if (report.omitted_bytes > 0)
    facts.add(
        facts.of(turn.ids),
        RuntimeWarning{.code = "compaction_omitted",
                       .message = fmt::format("the oldest {} bytes of the conversation do not "
                                              "fit into {} pieces: the summary does not "
                                              "contain them",
                                              report.omitted_bytes, report.pieces),
                       .boot_id = {}});
  if (report.failure || report.pieces == 0) {
    fail_compaction(facts, *thread, turn,
                    report.failure.value_or(
                        Failure{Category::unavailable, "there is nothing to summarise", false}));
    return accept(facts);
  }
  state::Compaction planned = *turn.compaction;
  planned.provider = report.provider;
  planned.model = report.model;
  planned.model_name = report.model_name;
  request_summary(facts, turn, inputs, inputs.ids, planned);
  return accept(facts);
}

Decided summary_written(const Session& view, const Thread& thread,
                        const ReportModelCompleted& report, Inputs inputs) {
  const Turn& turn = *thread.active;
  Facts facts{view, inputs};
  const ModelScope scope{facts.of(turn.ids), turn.call->id};
  // No tools are offered for a summary, so calls of tools are dropped.
  const bool calls = report.stop_reason == StopReason::tool_use;
  ModelCompleted completed{.tool_calls = {},
                           .stop_reason = calls ? StopReason::end_turn : report.stop_reason,
                           .usage = report.usage,
                           .provider = turn.call->provider,
                           .model = turn.call->model,
                           .duration_ms = inputs.since(turn.call->at)};
  completed.purpose = std::string(kPurpose);
  completed.first_token_ms = report.first_token_ms;
  if (report.whole_text) {
    add_output(facts, scope, *report.whole_text, inputs, KeptFor::session);
    completed.preview = report.text;
    completed.output_ref = report.whole_text->ref.text();
  } else {
    completed.text = report.text;
  }
  facts.add(scope, std::move(completed));
  if (report.text_bytes == 0)
    fail_compaction(facts, thread, turn,
                    {Category::provider, "the model wrote an empty summary", false});
  else
    Flow{facts, view, thread, inputs}.go_on();
  return accept(facts);
}

void summary_failed(Facts& facts, const Thread& thread, const Turn& turn, const Failure& error) {
  fail_compaction(facts, thread, turn, error);
}

Decided compacted(const Session& view, const ReportCompacted& report, Inputs inputs) {
  const Thread* thread = thread_of_active(view, report.turn);
  if (!thread || thread->status == Status::blocked) return Unchanged{};
  const Turn& turn = *thread->active;
  if (!turn.compaction || !turn.compaction->started) return Unchanged{};
  const state::Compaction& compaction = *turn.compaction;
  Facts facts{view, inputs};
  if (report.failure || report.tokens_after >= compaction.tokens_before) {
    fail_compaction(facts, *thread, turn,
                    report.failure.value_or(
                        Failure{Category::unavailable,
                                fmt::format("the summary would not save tokens: {} instead of {}",
                                            report.tokens_after, compaction.tokens_before),
                                false}));
    return accept(facts);
  }
  add_output(facts, facts.of(turn.ids), *report.summary, inputs, KeptFor::session);
  add_output(facts, facts.of(turn.ids), *report.continuation, inputs, KeptFor::session);
  std::vector<std::string> incidents;
  for (const Incident& incident : thread->incidents)
    incidents.push_back(state::log_ref(incident.sequence));
  facts.add(facts.of(turn.ids),
            CompactionCompleted{.summary_ref = report.summary->ref.text(),
                                .continuation_ref = report.continuation->ref.text(),
                                .covers_through = compaction.covers_through,
                                .tokens_before = compaction.tokens_before,
                                .tokens_after = report.tokens_after,
                                .preserved_action_ids = open_actions(view),
                                .preserved_incidents = std::move(incidents),
                                .preserved_refs = report.refs,
                                .usage = compaction.usage});
  if (turn.work) {
    facts.complete(turn, StopReason::end_turn, turn.usage);
    facts.start_next(*thread);
  } else {
    Flow{facts, view, *thread, inputs}.go_on();
  }
  return accept(facts);
}

namespace {

std::optional<Error> wrong_place(const Session& view, const Thread* thread,
                                 const CompactThread& command) {
  if (!view.exists())
    return Error{
        Code::not_found, fmt::format("there is no session {}", command.session_id.text()), {}};
  if (auto error = thread_of_job(view, command.thread_id)) return error;
  if (!thread)
    return Error{Code::not_found,
                 fmt::format("session {} has no thread {}; agentrt show {} lists its threads",
                             view.id.text(), command.thread_id.text(), view.id.text()),
                 {}};
  return std::nullopt;
}

// Whether a turn has ended since the last compaction, or will.
bool has_news(const Session& view, const Thread& thread) {
  if (thread.active || !thread.queue.empty()) return true;
  const ContextBoundary* last = thread.boundaries.empty() ? nullptr : &thread.boundaries.back();
  const auto covers = [&](Sequence newest) {
    return last && !last->session_id && newest <= last->sequence;
  };
  if (!thread.last && thread.fork) {
    const ForkPoint& from = thread.fork->from;
    const bool own = from.session_id == view.id;
    return !last || (own != last->session_id.has_value() && from.sequence > last->sequence);
  }
  if (!thread.last) return false;
  // A turn that restores files follows the one to which its rollback went.
  if (thread.last->work && thread.last->work->restore)
    return thread.rollback && !covers(thread.rollback->baseline);
  return !thread.last->work && !covers(thread.last->answer);
}

}  // namespace

Decided compact_thread(const Session& view, const CompactThread& command, Inputs inputs) {
  const Thread* thread = find_thread(view, command.thread_id);
  if (auto error = wrong_place(view, thread, command)) return *error;
  if (command.instructions.value_or("").size() > kCompactInstructionsMax)
    return refuse(Code::invalid_params,
                  fmt::format("instructions: at most {} bytes", kCompactInstructionsMax));
  CompactThreadReply reply{.session_id = view.id,
                           .thread_id = command.thread_id,
                           .turn_id = {},
                           .status = CompactStatus::unchanged,
                           .sequence = view.sequence};
  if (!has_news(view, *thread)) return Unchanged{to_json(reply)};
  const bool queued = thread->active.has_value();
  if (queued && thread->queue.size() >= inputs.settings->queue_turns_max)
    return refuse(Code::limit_exceeded,
                  fmt::format("the queue of this thread is full: {} turns are waiting",
                              inputs.settings->queue_turns_max));
  const TurnIds turn = fresh_turn(command.thread_id, inputs);
  const std::uint64_t position = thread->queue.size() + 1;
  Facts facts{view, inputs};
  facts.add(facts.of(turn),
            TaskCreated{.visibility = Visibility::internal,
                        .status = queued ? TaskStatus::queued : TaskStatus::accepted,
                        .objective = "Compact the conversation",
                        .task_kind = "turn"});
  TurnSubmitted submitted{.status = queued ? Status::queued : Status::accepted,
                          .input = {{InputKind::text, "Compact the conversation.", std::nullopt}},
                          .source = "system",
                          .work = std::string(kWork),
                          .instructions = command.instructions};
  name_caller(submitted, inputs.trace);
  if (thread->last) submitted.options.model = thread->last->options.model;
  if (queued) submitted.position = position;
  facts.add(facts.of(turn), std::move(submitted));
  if (queued)
    facts.add(facts.of(turn), QueueChanged{.change = QueueChange::added,
                                           .turn_id = turn.turn,
                                           .position = position,
                                           .count = position});
  else
    facts.start(turn);
  reply.turn_id = turn.turn;
  reply.status = queued ? CompactStatus::queued : CompactStatus::accepted;
  return accept(facts, std::move(reply));
}

}  // namespace agentrt::control
