#include "engine/engine.h"

#include <unordered_set>
#include <utility>

#include "engine/calls.h"
#include "engine/effects.h"
#include "engine/gates.h"
#include "engine/tools.h"

namespace agentrt::engine {

Engine::Engine(Parts parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

void Engine::advance(const state::Session& view) {
  const std::vector<Effect> effects = plan(view, parts_.boot);
  const auto known = running_.find(view.id);
  if (effects.empty() && known == running_.end()) return;
  OfSession& session = running_[view.id];
  auto& running = session.effects;

  std::unordered_set<std::string> wanted;
  std::size_t awaited = 0;
  for (const Effect& effect : effects) {
    wanted.insert(effect.key);
    if (!std::holds_alternative<FollowProcess>(effect.what)) ++awaited;
  }
  running_count_ += awaited - std::exchange(session.awaited, awaited);
  // A turn that was blocked and resumed within one commit is prepared again under the same key.
  std::erase_if(running, [&](const auto& entry) {
    return !wanted.contains(entry.first) || entry.second->over();
  });
  for (const Effect& effect : effects) {
    if (const auto under_way = running.find(effect.key); under_way != running.end()) {
      under_way->second->called_again(effect);
      continue;
    }
    running[effect.key] = start(view, effect);
  }
  if (running.empty()) running_.erase(view.id);
}

void Engine::give(const schema::Command& command) {
  if (const auto* write = std::get_if<schema::WriteProcessStdin>(&command))
    parts_.processes.write(
        write->process_id, write->input,
        write->close.value_or(false) ? ports::AfterInput::closes : ports::AfterInput::stays_open);
  else if (const auto* resize = std::get_if<schema::ResizeProcess>(&command))
    parts_.processes.resize(resize->process_id, resize->rows, resize->columns);
}

std::unique_ptr<Engine::Running> Engine::start(const state::Session& view, const Effect& effect) {
  return std::visit(
      [&]<class What>(const What& what) -> std::unique_ptr<Running> {
        if constexpr (std::is_same_v<What, Prepare>)
          return std::make_unique<Preparing>(parts_, view, what);
        else if constexpr (std::is_same_v<What, Ask>)
          return std::make_unique<Asking>(parts_, view, what);
        else if constexpr (std::is_same_v<What, AwaitRetry>)
          return std::make_unique<Waiting>(parts_, view, what);
        else if constexpr (std::is_same_v<What, RunHook>)
          return std::make_unique<Hearing>(parts_, view, what);
        else if constexpr (std::is_same_v<What, Inspect>)
          return std::make_unique<Inspecting>(parts_, view, what);
        else if constexpr (std::is_same_v<What, MakeCall>)
          return std::make_unique<MakingCall>(parts_, view, what);
        else if constexpr (std::is_same_v<What, AwaitAnswer>)
          return std::make_unique<Expiring>(parts_, view, what);
        else
          return std::make_unique<RunningTool>(parts_, view, what);
      },
      effect.what);
}

}  // namespace agentrt::engine
