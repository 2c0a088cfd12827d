#include "engine/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/processes.h"
#include "tools/registry.h"

namespace agentrt::engine {
namespace {

std::optional<Effect> wait_for(const state::Action& action) {
  if (!action.required.expires_at) return std::nullopt;
  return Effect{"answer " + action.id.text(),
                AwaitAnswer{action.id, *action.required.expires_at,
                            action.required.expires_in_ms.value_or(0)}};
}

// The effect for a started call, unless it only waits for the user.
std::optional<Effect> call_effect(const state::Turn& turn, const state::ToolCall& call) {
  if (call.stage != state::CallStage::started) return std::nullopt;
  switch (tools::runner_of(call.tool)) {
    case tools::Runner::person:
    case tools::Runner::session:  // ended by the decision that started it
      return std::nullopt;
    case tools::Runner::agent: {
      const auto request = tools::agent_call_in(call.tool, call.args.text);
      const auto* wait = request ? std::get_if<tools::WaitCall>(&*request) : nullptr;
      if (!wait) return std::nullopt;
      return Effect{"wait " + call.id.text(),
                    AwaitSubagents{turn.ids.turn, call.id, wait->timeout_ms}};
    }
    case tools::Runner::process:
      return Effect{key_of(process_of(call)),
                    RunProcess{turn.ids.turn, call.id, call.process.has_value()}};
    case tools::Runner::file:
    case tools::Runner::web:
    case tools::Runner::server:
      break;
  }
  return Effect{"call " + call.id.text(), CallTool{turn.ids.turn, call.id, call.change.has_value(),
                                                   !turn.action, call.answer}};
}

// The turn's next effect besides its calls in progress.
std::optional<Effect> next_effect(const state::Turn& turn) {
  if (turn.hook) return Effect{"hook " + turn.hook->id, RunHook{turn.ids, turn.hook->id}};
  if (turn.call)
    return Effect{"ask " + turn.call->id.text(),
                  Ask{turn.ids, turn.call->id, turn.call->model_name, turn.ended_by_provider,
                      turn.call->purpose.has_value()}};
  if (const auto& work = turn.work; work && work->restore && (!turn.prepared || turn.tools.empty()))
    return Effect{fmt::format("restore {} {}{}", turn.ids.turn.text(), work->restored,
                              turn.prepared ? "" : " again"),
                  RestoreFiles{turn.ids, *work->restore, work->restored}};
  if (turn.prepared && !turn.tools.empty()) {
    const state::ToolCall& call = turn.tools.front();
    if (call.stage == state::CallStage::started) return std::nullopt;
    return Effect{"inspect " + call.id.text(), Inspect{turn.ids.turn, call.id}};
  }
  if (turn.prepared && turn.compaction &&
      (!turn.compaction->started || turn.compaction->done >= turn.compaction->pieces))
    return Effect{fmt::format("compact {} {}", turn.ids.turn.text(), turn.compaction->done),
                  Compact{turn.ids}};
  if (turn.prepared && turn.retry_at)
    return Effect{fmt::format("retry {} {}", turn.ids.turn.text(), turn.requests),
                  AwaitRetry{turn.ids.turn, *turn.retry_at}};
  return Effect{"prepare " + turn.ids.turn.text(),
                Prepare{turn.ids, turn.options.model, turn.options.sandbox}};
}

void plan_turn(const state::Turn& turn, std::vector<Effect>& effects) {
  if (turn.prepared)
    for (const state::ToolCall& call : turn.tools)
      if (auto effect = call_effect(turn, call)) effects.push_back(*std::move(effect));
  if (turn.action) return;
  if (auto next = next_effect(turn)) effects.push_back(*std::move(next));
}

std::optional<Effect> judge_effect(const state::Session& view, const state::Turn& turn) {
  const auto job = view.jobs.find(turn.ids.job.value_or(JobId{}));
  if (job == view.jobs.end() || !job->second.record.runner.output_schema) return std::nullopt;
  return Effect{"judge " + turn.ids.turn.text(),
                JudgeItem{turn.ids, *job->second.record.runner.output_schema}};
}

void plan_job(const state::Job& job, std::vector<Effect>& effects) {
  const schema::JobRecord& record = job.record;
  if (record.status == schema::JobStatus::queued) return;
  const JobId& id = record.ids.job;
  const auto due = state::next_due(job);
  const bool redo = state::has_failed_left(job);
  if (due || redo || state::has_more_lines(job))
    effects.push_back({"feed " + id.text(), FeedJob{.job = id,
                                                    .input_ref = record.input_ref,
                                                    .after = record.cursor,
                                                    .room = state::free_slots(job),
                                                    .more = state::has_more_lines(job),
                                                    .redo = redo,
                                                    .redo_before = record.redo_before,
                                                    .due = due}});
  if (record.max_runtime_ms && record.started_at)
    effects.push_back({fmt::format("job {} {}", id.text(), record.attempts),
                       AwaitJob{id, *record.started_at, *record.max_runtime_ms}});
}

}  // namespace

std::vector<Effect> plan(const state::Session& view, const BootId& boot) {
  std::vector<Effect> effects = follow_processes(view);
  for (const auto& [_, job] : view.jobs) plan_job(job, effects);
  for (const auto& [_, thread] : view.threads) {
    if (!thread.active) continue;
    const state::Turn& turn = *thread.active;
    bool lost_sight = false;
    for (const state::ToolCall& call : turn.tools) {
      if (!call.process || call.process_boot == boot) continue;
      lost_sight = true;
      effects.push_back(
          {"find " + call.process->text(), FindProcess{turn.ids.turn, call.id, *call.process}});
    }
    if (turn.action)
      if (auto wait = wait_for(*turn.action)) effects.push_back(*std::move(wait));
    if (turn.item && turn.item->reported) {
      if (auto judge = judge_effect(view, turn)) effects.push_back(*std::move(judge));
      continue;
    }
    if (lost_sight || thread.status == schema::Status::blocked || turn.boot != boot) continue;
    plan_turn(turn, effects);
  }
  return effects;
}

bool needs_owner(const state::Session& view, const std::vector<Effect>& planned) {
  if (!planned.empty()) return true;
  return std::ranges::any_of(view.threads, [](const auto& entry) {
    const state::Thread& thread = entry.second;
    return thread.active && thread.active->action && thread.status != schema::Status::blocked;
  });
}

std::vector<Effect> plan_ahead(const state::Session& view, const BootId& boot, Sequence stored) {
  std::vector<Effect> effects = plan(view, boot);
  std::erase_if(effects, [&](const Effect& effect) {
    if (const auto* run = std::get_if<RunProcess>(&effect.what)) return run->stored;
    if (const auto* prepare = std::get_if<Prepare>(&effect.what))
      return state::find_turn(view, prepare->turn.turn)->submitted <= stored;
    return !std::holds_alternative<Ask>(effect.what);
  });
  return effects;
}

}  // namespace agentrt::engine
