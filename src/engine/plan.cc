#include "engine/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/processes.h"

namespace agentrt::engine {
namespace {

std::optional<Effect> wait_for(const state::Action& action) {
  if (!action.required.expires_at) return std::nullopt;
  return Effect{"answer " + action.id.text(),
                AwaitAnswer{action.id, *action.required.expires_at,
                            action.required.expires_in_ms.value_or(0)}};
}

Effect next_effect(const state::Turn& turn) {
  if (turn.hook) return {"hook " + turn.hook->id, RunHook{turn.ids, turn.hook->id}};
  if (turn.call)
    return {"ask " + turn.call->id.text(),
            Ask{turn.ids, turn.call->id, turn.call->model_name, turn.ended_by_provider}};
  if (turn.prepared && !turn.tools.empty()) {
    const state::ToolCall& call = turn.tools.front();
    if (call.stage == state::CallStage::started)
      return {key_of(process_of(call)), RunTool{turn.ids.turn, call.id, call.process.has_value()}};
    return {"inspect " + call.id.text(), Inspect{turn.ids.turn, call.id}};
  }
  if (turn.prepared && turn.retry_at)
    return {fmt::format("retry {} {}", turn.ids.turn.text(), turn.requests),
            AwaitRetry{turn.ids.turn, *turn.retry_at}};
  return {"prepare " + turn.ids.turn.text(),
          Prepare{turn.ids, turn.options.model, turn.options.sandbox}};
}

}  // namespace

std::vector<Effect> plan(const state::Session& view, const BootId& boot) {
  std::vector<Effect> effects = follow_processes(view);
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
    if (turn.action) {
      if (auto wait = wait_for(*turn.action)) effects.push_back(*std::move(wait));
      continue;
    }
    if (lost_sight || thread.status == schema::Status::blocked || turn.boot != boot) continue;
    effects.push_back(next_effect(turn));
  }
  return effects;
}

}  // namespace agentrt::engine
