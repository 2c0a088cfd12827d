#include "engine/plan.h"

#include <fmt/format.h>

namespace agentrt::engine {
namespace {

Effect next_effect(const state::Turn& turn) {
  if (turn.call)
    return {"ask " + turn.call->id.text(),
            Ask{turn.ids, turn.call->id, turn.call->model_name, turn.ended_by_provider}};
  if (turn.prepared && turn.retry_at)
    return {fmt::format("retry {} {}", turn.ids.turn.text(), turn.requests),
            AwaitRetry{turn.ids.turn, *turn.retry_at}};
  return {"prepare " + turn.ids.turn.text(), Prepare{turn.ids, turn.options.model}};
}

}  // namespace

std::vector<Effect> plan(const state::Session& view, const BootId& boot) {
  std::vector<Effect> effects;
  for (const auto& [_, thread] : view.threads) {
    if (!thread.active || thread.status == schema::Status::blocked) continue;
    if (thread.active->boot != boot) continue;
    effects.push_back(next_effect(*thread.active));
  }
  return effects;
}

}  // namespace agentrt::engine
