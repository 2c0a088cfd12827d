// control/context/rollback.cc: decides how a thread goes back to the end of one of its turns: the
// turns after it leave the conversation, and a turn of its own may undo their changes of files.
//
// Everything is one append, whatever the number of turns: the log keeps them, and the range of
// facts that the conversation leaves out is named once.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/context/restore.h"
#include "control/context/threads.h"
#include "control/jobs/jobs.h"
#include "control/subagents/subagents.h"
#include "control/tasks/task_facts.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::string_view kReason = "the thread was rolled back";
// The read models of which a rollback changes more than the sequence.
constexpr std::string_view kChangedModels[] = {"session_snapshot", "thread_read_model",
                                               "queue_snapshot", "context_boundary_snapshot",
                                               "subagent_job_summary"};

// Work in the removed part that has not ended.
struct OpenWork {
  std::vector<const Turn*> turns;  // of the thread itself
  // Threads of subagents whose work began in the removed part, children after their own.
  std::vector<const state::Subagent*> subagents;
  std::vector<const state::Job*> jobs;

  bool empty() const { return turns.empty() && subagents.empty() && jobs.empty(); }
};

bool works_since(const Session& view, const ThreadId& id, Sequence after) {
  const Thread* thread = find_thread(view, id);
  if (!thread) return false;
  return (thread->active && thread->active->submitted > after) ||
         std::ranges::any_of(thread->queue,
                             [&](const Turn& turn) { return turn.submitted > after; });
}

bool has_work(const Session& view, const ThreadId& id) { return works_since(view, id, 0); }

OpenWork open_work(const Session& view, const Thread& thread, Sequence end, const Inputs& inputs) {
  OpenWork out;
  if (thread.active) out.turns.push_back(&*thread.active);
  for (const Turn& turn : thread.queue) out.turns.push_back(&turn);
  for (const state::Subagent* child : state::children_of(view, thread.id)) {
    if (!works_since(view, child->thread, end)) continue;
    std::vector<const state::Subagent*> below;
    collect_below(view, child->thread, below);
    below.push_back(child);
    for (const state::Subagent* each : below)
      if (has_work(view, each->thread)) out.subagents.push_back(each);
  }
  for (const auto& [_, job] : view.jobs) {
    const state::Task* task = task_of(inputs, job.record.ids.task);
    if (job.record.first > end && task && task->thread_id == thread.id) out.jobs.push_back(&job);
  }
  return out;
}

template <class AnyId>
std::string list_of(const std::vector<AnyId>& ids) {
  std::vector<std::string_view> texts;
  for (const AnyId& id : ids) texts.push_back(id.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Names the open work. Its details list all of it.
Error still_open(const OpenWork& open) {
  std::vector<TurnId> turns;
  std::vector<SubagentId> subagents;
  std::vector<JobId> jobs;
  for (const Turn* turn : open.turns) turns.push_back(turn->ids.turn);
  for (const state::Subagent* subagent : open.subagents) subagents.push_back(subagent->id);
  for (const state::Job* job : open.jobs) jobs.push_back(job->record.ids.job);
  std::vector<std::string> words;
  if (!turns.empty()) words.push_back("turn " + list_of(turns));
  if (!subagents.empty()) words.push_back("subagent " + list_of(subagents));
  if (!jobs.empty()) words.push_back("job " + list_of(jobs));
  const Status status = open.turns.empty() ? Status::running : open.turns.front()->status;
  return {Code::conflict,
          fmt::format("the part to remove has open work: {}; wait for its end, or cancel it with "
                      "interrupt",
                      fmt::join(words, "; ")),
          fmt::format(R"({{"status":"{}","turnIds":{},"subagentIds":{},"jobIds":{}}})",
                      name_of(status), to_json(turns), to_json(subagents), to_json(jobs))};
}

std::optional<Error> wrong_target(const Session& view, const Thread* thread,
                                  const RollbackThread& command, const Inputs& inputs) {
  if (!view.exists())
    return Error{
        Code::not_found, fmt::format("there is no session {}", command.session_id.text()), {}};
  if (auto error = thread_of_job(view, command.thread_id)) return error;
  if (!thread) return no_open_thread(view.id, command.thread_id);
  if (thread->subagent)
    return Error{Code::conflict,
                 fmt::format("thread {} belongs to subagent {}: roll back the thread of its parent",
                             thread->id.text(), thread->subagent->text()),
                 fmt::format(R"({{"subagentId":{}}})", to_json(*thread->subagent))};
  const Turn* turn = find_turn(*thread, command.turn_id);
  if (turn && !ended(turn->status)) return not_ended(*turn);
  const auto& known = inputs.named.ended;
  if (!known || known->thread != thread->id || known->end == 0 || !inputs.named.removed)
    return no_turn(view.id, thread->id, command.turn_id);
  if (!inputs.named.removed->in_conversation)
    return Error{Code::conflict,
                 fmt::format("turn {} was removed by an earlier rollback: fork_thread continues "
                             "from it in a new thread",
                             command.turn_id.text()),
                 R"({"status":"removed"})"};
  if (thread->rollbacks >= inputs.settings->rollbacks_max)
    return Error{Code::limit_exceeded,
                 fmt::format("the thread was rolled back {} times, which is the limit: fork_thread "
                             "continues from the turn in a new thread",
                             thread->rollbacks),
                 {}};
  return std::nullopt;
}

template <class T>
void keep_newest(std::vector<T>& list) {
  if (list.size() > kRollbackListMax)
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(kRollbackListMax));
}

// What remains in the world: running processes, changed files, and calls that cannot be undone.
void add_effects(const Session& view, const Thread& thread, const OpenWork& open, Sequence end,
                 const RemovedPart& part, RollbackThreadReply& reply) {
  reply.effect_count = part.call_count + part.file_count;
  std::vector<RollbackEffect> last = part.calls;
  for (const RollbackFile& file : part.files)
    last.push_back({.kind = EffectKind::file, .state = file.state, .text = file.path});
  for (const auto& [id, process] : view.processes) {
    const bool below = std::ranges::any_of(open.subagents, [&](const state::Subagent* each) {
      return each->thread == process.turn.thread;
    });
    if (process.first <= end || (process.turn.thread != thread.id && !below)) continue;
    ++reply.effect_count;
    last.push_back({.kind = EffectKind::process,
                    .state = EffectState::running,
                    .turn_id = process.turn.turn,
                    .tool_call_id = process.call,
                    .process_id = id,
                    .text = process.command});
  }
  reply.effects = std::move(last);
  keep_newest(reply.effects);
}

RollbackThreadReply reply_of(const Session& view, const Thread& thread, const OpenWork& open,
                             Sequence end, const RemovedPart& part) {
  RollbackThreadReply reply;
  reply.session_id = view.id;
  reply.thread_id = thread.id;
  reply.removed_turns = part.turns;
  for (const Turn* turn : open.turns) reply.removed_turns.push_back(turn->ids.turn);
  keep_newest(reply.removed_turns);
  reply.removed_turn_count = part.turn_count + open.turns.size();
  reply.files = part.files;
  reply.file_count = part.file_count;
  add_effects(view, thread, open, end, part, reply);
  reply.sequence = view.sequence;
  return reply;
}

// Cancels the open work; returns the actions that it waited for.
std::vector<ActionId> cancel_open(Facts& facts, const Session& view, const Thread& thread,
                                  const OpenWork& open, const Inputs& inputs) {
  std::vector<ActionId> actions;
  std::vector<TurnId> ended;
  const auto note = [&](const Thread& each) {
    if (each.active && each.active->action) actions.push_back(each.active->action->id);
  };
  for (const state::Subagent* subagent : open.subagents) {
    const Thread* own = find_thread(view, subagent->thread);
    note(*own);
    cancel_turns(facts, *own, std::string(kReason), ended);
  }
  for (const state::Job* job : open.jobs) {
    for (const ThreadId& id : job->record.threads)
      if (const Thread* own = find_thread(view, id)) note(*own);
    end_job(facts, view, *job, {Category::cancelled, std::string(kReason), false}, inputs);
  }
  note(thread);
  cancel_turns(facts, thread, std::string(kReason), ended);
  return actions;
}

RollbackCompleted completed_of(const RollbackThread& command, const RollbackThreadReply& reply,
                               const OpenWork& open, const RemovedPart& part, Sequence end) {
  RollbackCompleted out;
  out.target_turn_id = command.turn_id;
  out.removed_turns = reply.removed_turns;
  out.removed_turn_count = reply.removed_turn_count;
  out.baseline_sequence = end;
  out.effects = reply.effects;
  out.effect_count = reply.effect_count;
  out.target_turn = part.target;
  out.target_options = part.options;
  out.context_boundary = part.boundary;
  RollbackAffected& affected = out.affected.emplace();
  affected.tools = part.tools;
  affected.artifacts = part.artifacts;
  affected.subagents = part.subagents;
  affected.jobs = part.jobs;
  for (const state::Subagent* each : open.subagents)
    if (std::ranges::find(affected.subagents, each->id) == affected.subagents.end() &&
        affected.subagents.size() < kRollbackListMax)
      affected.subagents.push_back(each->id);
  affected.read_models.assign(std::begin(kChangedModels), std::end(kChangedModels));
  return out;
}

}  // namespace

Decided rollback_thread(const Session& view, const RollbackThread& command, Inputs inputs) {
  const Thread* thread = find_thread(view, command.thread_id);
  if (auto error = wrong_target(view, thread, command, inputs)) return *error;
  const RemovedPart& part = *inputs.named.removed;
  const Sequence end = inputs.named.ended->end;
  const OpenWork open = open_work(view, *thread, end, inputs);
  if (!open.empty() && !command.interrupt.value_or(false)) return still_open(open);
  RollbackThreadReply reply = reply_of(view, *thread, open, end, part);
  const RestoreMode mode = command.restore.value_or(RestoreMode::none);
  const bool restores = mode == RestoreMode::files && part.restorable > 0;
  const bool nothing = open.empty() && part.turn_count == 0 && !restores;
  if (mode == RestoreMode::preview || nothing) return Unchanged{to_json(reply)};

  Facts facts{view, inputs};
  std::vector<ActionId> actions = cancel_open(facts, view, *thread, open, inputs);
  facts.add(facts.of(thread->id), RollbackStarted{command.turn_id});
  RollbackCompleted completed = completed_of(command, reply, open, part, end);
  completed.cancelled_action_ids = std::move(actions);
  std::optional<TurnIds> turn;
  if (restores) turn = fresh_turn(thread->id, inputs);
  if (turn) completed.restore_turn_id = reply.restore_turn_id = turn->turn;
  facts.add(facts.of(thread->id), std::move(completed));
  if (turn)
    begin_restore(facts, *turn, {.after = end, .through = facts.last()}, command.interactive);
  return accept(facts, std::move(reply));
}

}  // namespace agentrt::control
