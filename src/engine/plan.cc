#include "engine/plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::engine {
namespace {

Effect next_effect(const state::Turn& turn) {
  if (turn.call)
    return {"ask " + turn.call->id.text(),
            Ask{turn.ids, turn.call->id, turn.call->model_name, turn.ended_by_provider}};
  const auto started =
      std::ranges::find(turn.tools, state::CallStage::started, &state::ToolCall::stage);
  if (turn.prepared && started != turn.tools.end())
    return {"tool " + started->id.text(),
            RunTool{turn.ids.turn, started->id, started->args.text, turn.options.sandbox,
                    started->process.has_value()}};
  if (turn.prepared && turn.retry_at)
    return {fmt::format("retry {} {}", turn.ids.turn.text(), turn.requests),
            AwaitRetry{turn.ids.turn, *turn.retry_at}};
  return {"prepare " + turn.ids.turn.text(), Prepare{turn.ids, turn.options.model}};
}

}  // namespace

std::vector<Effect> plan(const state::Session& view, const BootId& boot) {
  std::vector<Effect> effects;
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
    if (lost_sight || thread.status == schema::Status::blocked || turn.boot != boot) continue;
    effects.push_back(next_effect(turn));
  }
  return effects;
}

}  // namespace agentrt::engine
