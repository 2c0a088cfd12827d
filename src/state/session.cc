#include "state/session.h"

#include <algorithm>

namespace agentrt::state {

using namespace schema;

const Thread* find_thread(const Session& session, const ThreadId& thread) {
  const auto at = session.threads.find(thread);
  return at == session.threads.end() ? nullptr : &at->second;
}

const Policy& policy_of(const Session& session, const ThreadId& thread) {
  const Thread* found = find_thread(session, thread);
  return found && found->policy ? *found->policy : session.policy;
}

const Turn* turn_waiting_for(const Session& session, const ActionId& action) {
  for (const auto& [_, thread] : session.threads)
    if (thread.active && thread.active->action && thread.active->action->id == action)
      return &*thread.active;
  return nullptr;
}

const Turn* find_turn(const Thread& thread, const TurnId& id) {
  if (thread.active && thread.active->ids.turn == id) return &*thread.active;
  if (thread.last && thread.last->ids.turn == id) return &*thread.last;
  for (const Turn& turn : thread.queue)
    if (turn.ids.turn == id) return &turn;
  return nullptr;
}

std::optional<std::string> switched_model(const Turn& turn) {
  return turn.switched ? turn.model_name : std::nullopt;
}

const Turn* find_turn(const Session& session, const TurnId& id) {
  for (const auto& [_, thread] : session.threads)
    if (const Turn* turn = find_turn(thread, id)) return turn;
  return nullptr;
}

std::string input_preview(const std::vector<InputPart>& input) {
  for (const InputPart& part : input) {
    const auto& text = part.type == InputKind::text   ? part.text
                       : part.type == InputKind::file ? part.path
                                                      : part.ref;
    if (text && !text->empty()) return std::string(utf8_prefix(*text, kInputPreviewBytes));
  }
  return {};
}

Usage sum(Usage total, const Usage& more) {
  const auto add = [](std::optional<std::uint64_t>& to, const std::optional<std::uint64_t>& from) {
    if (from) to = to.value_or(0) + *from;
  };
  total.input_tokens += more.input_tokens;
  total.output_tokens += more.output_tokens;
  add(total.cached_tokens, more.cached_tokens);
  add(total.reasoning_tokens, more.reasoning_tokens);
  return total;
}

bool waits_for_person(const Turn& turn) {
  return turn.action && turn.action->required.action_type != kElicitationAction;
}

bool interrupted_work(const Session& session, const BootId& boot) {
  const bool connected = std::ranges::any_of(session.channels, [&](const auto& entry) {
    return entry.second.connected && entry.second.boot != boot;
  });
  return connected || std::ranges::any_of(session.threads, [&](const auto& entry) {
           const auto& active = entry.second.active;
           return active && active->status != Status::blocked && !waits_for_person(*active) &&
                  active->boot != boot;
         });
}

bool job_runs(const Session& session) {
  return std::ranges::any_of(session.jobs, [](const auto& entry) {
    return entry.second.record.status == JobStatus::running;
  });
}

Status overall_status(const Session& session) {
  Status status = job_runs(session) ? Status::running : Status::idle;
  for (const auto& [_, thread] : session.threads) {
    if (!thread.active) continue;
    if (thread.status != Status::blocked) return thread.status;
    if (status == Status::idle) status = Status::blocked;
  }
  return status;
}

}  // namespace agentrt::state
