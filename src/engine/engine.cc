#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "engine/asking.h"
#include "engine/compacting.h"
#include "engine/feeding.h"
#include "engine/gates.h"
#include "engine/preparing.h"
#include "engine/restoring.h"
#include "engine/running_call.h"
#include "engine/running_process.h"

namespace agentrt::engine {

Engine::Engine(Parts parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

void Engine::foresee(const state::Session& view, Sequence stored) {
  for (const Effect& effect : plan_ahead(view, parts_.boot, stored)) {
    OfSession& session = running_[view.id];
    if (session.effects.contains(effect.key)) continue;
    session.foreseen.push_back(effect.key);
    session.effects[effect.key] = start(view, effect, Log::will_have_it);
  }
}

void Engine::take_back(const SessionId& session) {
  const auto known = running_.find(session);
  if (known == running_.end()) return;
  OfSession& of = known->second;
  for (const std::string& key : of.foreseen) of.effects.erase(key);
  of.foreseen.clear();
  drop_all_files(of);  // no later call may drop them; they can be read again
  if (of.effects.empty()) running_.erase(known);
}

void Engine::note_need(const SessionId& session, bool needed) {
  if (needed)
    in_need_.insert(session);
  else
    in_need_.erase(session);
  in_need_count_ = in_need_.size();
}

void Engine::end(const SessionId& session) {
  note_need(session, false);
  const auto known = running_.find(session);
  if (known == running_.end()) return;
  running_count_ -= known->second.awaited;
  drop_all_files(known->second);
  running_.erase(known);
}

void Engine::advance(const state::Session& view) {
  const std::vector<Effect> effects = plan(view, parts_.boot);
  note_need(view.id, needs_owner(view, effects));
  const auto known = running_.find(view.id);
  if (effects.empty() && known == running_.end()) return;
  OfSession& session = running_[view.id];
  auto& running = session.effects;
  for (const std::string& key : std::exchange(session.foreseen, {}))
    if (const auto begun = running.find(key); begun != running.end()) begun->second->stored();

  std::unordered_set<std::string> wanted;
  std::size_t awaited = 0;
  for (const Effect& effect : effects) {
    wanted.insert(effect.key);
    if (!std::holds_alternative<FollowProcess>(effect.what)) ++awaited;
  }
  running_count_ += awaited - std::exchange(session.awaited, awaited);
  // over(): a turn that was blocked and resumed within one commit is prepared again under the same
  // key.
  std::erase_if(running, [&](const auto& entry) {
    if (wanted.contains(entry.first)) return entry.second->over();
    entry.second->called_off();
    return true;
  });
  for (const Effect& effect : effects) {
    if (const auto under_way = running.find(effect.key); under_way != running.end()) {
      under_way->second->called_again(effect);
      continue;
    }
    running[effect.key] = start(view, effect, Log::has_it);
  }
  drop_files(view, session);
  drop_held(view, session);
  if (running.empty() && session.files.empty() && session.held.empty()) running_.erase(view.id);
}

std::shared_ptr<const ports::HeldFiles> Engine::held_by(const SessionId& session,
                                                        const ToolCallId& approved) const {
  const auto known = running_.find(session);
  if (known == running_.end()) return nullptr;
  const auto found = known->second.held.find(approved);
  return found == known->second.held.end() ? nullptr : found->second;
}

void Engine::drop_held(const state::Session& view, OfSession& session) {
  // Until its process exists, the call that was judged is open and not yet the job's permission.
  const auto is_open = [&](const ToolCallId& call) {
    return std::ranges::any_of(view.threads, [&](const auto& entry) {
      const auto& turn = entry.second.active;
      return turn && turn->item &&
             std::ranges::find(turn->tools, call, &state::ToolCall::id) != turn->tools.end();
    });
  };
  std::erase_if(session.held, [&](const auto& kept) {
    return !is_open(kept.first) && std::ranges::none_of(view.jobs, [&](const auto& entry) {
      const auto& permission = entry.second.permission;
      return permission && permission->call == kept.first;
    });
  });
}

void Engine::keep_files(const SessionId& session, const TurnId& turn,
                        std::shared_ptr<const conversation::TurnFiles> files) {
  const auto known = running_.find(session);
  if (known == running_.end()) return;
  auto& kept = known->second.files;
  if (const auto before = kept.find(turn); before != kept.end()) {
    files_bytes_ -= size_of(*before->second);
    kept.erase(before);
  }
  const std::size_t bytes = size_of(*files);
  if (files_bytes_ + bytes > kFilesKeptBytesMax) return;
  files_bytes_ += bytes;
  kept.emplace(turn, std::move(files));
}

std::shared_ptr<const conversation::TurnFiles> Engine::files_of(const SessionId& session,
                                                                const TurnId& turn) const {
  const auto known = running_.find(session);
  if (known == running_.end()) return nullptr;
  const auto found = known->second.files.find(turn);
  return found == known->second.files.end() ? nullptr : found->second;
}

// Drops the cached files of turns that have ended.
void Engine::drop_files(const state::Session& view, OfSession& session) {
  std::erase_if(session.files, [&](const auto& kept) {
    const state::Turn* turn = state::find_turn(view, kept.first);
    if (turn != nullptr && !turn->ended_at) return false;
    files_bytes_ -= size_of(*kept.second);
    return true;
  });
}

void Engine::drop_all_files(OfSession& session) {
  for (const auto& [_, files] : session.files) files_bytes_ -= size_of(*files);
  session.files.clear();
}

void Engine::give(const schema::Command& command) {
  if (const auto* write = std::get_if<schema::WriteProcessStdin>(&command))
    parts_.processes.write(
        write->process_id, write->input,
        write->close.value_or(false) ? ports::AfterInput::closes : ports::AfterInput::stays_open);
  else if (const auto* resize = std::get_if<schema::ResizeProcess>(&command))
    parts_.processes.resize(resize->process_id, resize->rows, resize->columns);
}

std::unique_ptr<Engine::Running> Engine::start(const state::Session& view, const Effect& effect,
                                               Log log) {
  return std::visit(
      [&]<class What>(const What& what) -> std::unique_ptr<Running> {
        if constexpr (std::is_same_v<What, Prepare>)
          return std::make_unique<Preparing>(
              parts_, view, what, log,
              [this, session = view.id, turn = what.turn.turn](auto files) {
                keep_files(session, turn, std::move(files));
              });
        else if constexpr (std::is_same_v<What, Ask>)
          return std::make_unique<Asking>(parts_, view, what, log,
                                          files_of(view.id, what.turn.turn));
        else if constexpr (std::is_same_v<What, AwaitRetry>)
          return std::make_unique<Waiting>(parts_, view, what);
        else if constexpr (std::is_same_v<What, RunHook>)
          return std::make_unique<RunningHook>(parts_, view, what);
        else if constexpr (std::is_same_v<What, Inspect>)
          return std::make_unique<Inspecting>(parts_, view, what);
        else if constexpr (std::is_same_v<What, CallTool>)
          return std::make_unique<RunningCall>(parts_, view, what);
        else if constexpr (std::is_same_v<What, AwaitAnswer>)
          return std::make_unique<Expiring>(parts_, view, what);
        else if constexpr (std::is_same_v<What, FeedJob>)
          return std::make_unique<Feeding>(parts_, view, what);
        else if constexpr (std::is_same_v<What, JudgeItem>)
          return std::make_unique<JudgingItem>(parts_, view, what);
        else if constexpr (std::is_same_v<What, AwaitJob>)
          return std::make_unique<JobTimer>(parts_, view, what);
        else if constexpr (std::is_same_v<What, Compact>)
          return std::make_unique<Compacting>(parts_, view, what);
        else if constexpr (std::is_same_v<What, RestoreFiles>)
          return std::make_unique<Restoring>(parts_, view, what);
        else if constexpr (std::is_same_v<What, AwaitSubagents>)
          return std::make_unique<AwaitingSubagents>(parts_, view, what);
        else if constexpr (std::is_same_v<What, RunProcess>)
          return std::make_unique<RunningProcess>(
              parts_, view, what, log,
              [this, session = view.id](const ToolCallId& approved) {
                return held_by(session, approved);
              },
              [this, session = view.id](const ToolCallId& approved, auto held) {
                if (const auto known = running_.find(session); known != running_.end())
                  known->second.held[approved] = std::move(held);
              });
        else
          return std::make_unique<RunningProcess>(parts_, view, what);
      },
      effect.what);
}

}  // namespace agentrt::engine
