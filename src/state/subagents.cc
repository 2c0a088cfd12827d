#include "state/subagents.h"

#include <algorithm>

#include "state/read_models.h"
#include "state/session.h"

namespace agentrt::state {

using namespace schema;

namespace {

Subagent* find(Session& session, const Fact& fact) {
  const auto at = session.subagents.find(fact.ids.subagent_id);
  if (at == session.subagents.end()) return nullptr;
  at->second.updated_at = fact.at;
  return &at->second;
}

ChildStatus child_status(Status status) {
  switch (status) {
    case Status::waiting_input:
      return ChildStatus::waiting_input;
    case Status::waiting_permission:
      return ChildStatus::waiting_permission;
    case Status::blocked:
      return ChildStatus::blocked;
    case Status::accepted:
    case Status::queued:
      return ChildStatus::queued;
    case Status::completed:
      return ChildStatus::completed;
    case Status::failed:
    case Status::timed_out:
    case Status::lost:
      return ChildStatus::failed;
    case Status::cancelled:
      return ChildStatus::cancelled;
    case Status::preparing:
    case Status::running:
    case Status::waiting_resource:
    case Status::streaming:
    case Status::retrying:
    case Status::stale:
    case Status::idle:
      break;
  }
  return ChildStatus::running;
}

// One delegation has ended; with others open, the subagent continues.
void end_delegation(Subagent& subagent, ChildStatus how) {
  if (subagent.open > 0) --subagent.open;
  subagent.status = subagent.open > 0 ? ChildStatus::queued : how;
  subagent.reason.reset();
  subagent.action.reset();
}

}  // namespace

void fold_subagent(Session& session, const Fact& fact, const SubagentSpawned& p) {
  Subagent subagent;
  subagent.id = fact.ids.subagent_id;
  subagent.thread = p.child_thread_id;
  subagent.parent = p.parent_thread_id;
  if (!fact.ids.turn_id.empty()) subagent.parent_turn = fact.ids.turn_id;
  subagent.role = p.role.value_or("");
  subagent.nickname = p.nickname;
  subagent.mode = p.mode;
  subagent.sandbox = p.sandbox;
  subagent.tools = p.tools;
  subagent.write_roots = p.write_roots;
  subagent.model = p.model;
  subagent.task = p.task_id;
  subagent.params_hash = p.params_hash;
  subagent.first = fact.sequence;
  subagent.spawned_at = subagent.updated_at = fact.at;
  const auto thread = session.threads.find(p.child_thread_id);
  if (thread != session.threads.end()) thread->second.subagent = subagent.id;
  session.subagents.insert_or_assign(subagent.id, std::move(subagent));
}

void fold_subagent(Session& session, const Fact& fact, const SubagentStatus& p) {
  Subagent* subagent = find(session, fact);
  if (!subagent) return;
  subagent->status = child_status(p.status);
  subagent->reason = p.reason;
  subagent->action = p.action_id;
}

void fold_subagent(Session& session, const Fact& fact, const SubagentInput& p) {
  Subagent* subagent = find(session, fact);
  if (!subagent) return;
  if (p.task_id) subagent->task = *p.task_id;
  ++subagent->delegations;
  if (subagent->open++ == 0) subagent->status = ChildStatus::running;
}

void fold_subagent(Session& session, const Fact& fact, const SubagentCompleted&) {
  Subagent* subagent = find(session, fact);
  if (!subagent) return;
  subagent->error.reset();
  end_delegation(*subagent, ChildStatus::completed);
}

void fold_subagent(Session& session, const Fact& fact, const SubagentFailed& p) {
  Subagent* subagent = find(session, fact);
  if (!subagent) return;
  subagent->error = p.error;
  const bool cancelled = p.error && p.error->category == Category::cancelled;
  end_delegation(*subagent, cancelled ? ChildStatus::cancelled : ChildStatus::failed);
}

void fold_subagent(Session& session, const Fact& fact, const SubagentClosed& p) {
  Subagent* subagent = find(session, fact);
  if (!subagent) return;
  subagent->status = ChildStatus::closed;
  subagent->reason = p.reason;
  subagent->closed_at = fact.at;
  session.closed_subagent = std::move(*subagent);
  session.subagents.erase(fact.ids.subagent_id);
}

void note_answer(Session& session, const Fact& fact, const ModelCompleted& p) {
  const auto thread = session.threads.find(fact.ids.thread_id);
  if (thread == session.threads.end() || !thread->second.subagent) return;
  const auto at = session.subagents.find(*thread->second.subagent);
  if (at == session.subagents.end()) return;
  const std::string& text = p.text ? *p.text : p.preview.value_or("");
  if (text.empty() && !p.tool_calls.empty()) return;
  Subagent& subagent = at->second;
  subagent.last_message = std::string(utf8_prefix(text, kLastMessageBytes));
  subagent.last_message_cut = !p.text || subagent.last_message.size() < text.size();
  subagent.last_message_at = fact.sequence;
}

const Subagent* find_subagent(const Session& session, const SubagentId& id) {
  const auto at = session.subagents.find(id);
  return at == session.subagents.end() ? nullptr : &at->second;
}

const Subagent* subagent_of(const Session& session, const ThreadId& thread) {
  const Thread* found = find_thread(session, thread);
  return found && found->subagent ? find_subagent(session, *found->subagent) : nullptr;
}

std::vector<ThreadId> ancestors_of(const Session& session, const Subagent& subagent) {
  std::vector<ThreadId> out{subagent.parent};
  while (const Subagent* above = subagent_of(session, out.back())) out.push_back(above->parent);
  return out;
}

std::size_t depth_of(const Session& session, const ThreadId& thread) {
  const Subagent* subagent = subagent_of(session, thread);
  return subagent ? ancestors_of(session, *subagent).size() : 0;
}

bool is_below(const Session& session, const ThreadId& thread, const ThreadId& ancestor) {
  const Subagent* subagent = subagent_of(session, thread);
  if (!subagent) return false;
  const std::vector<ThreadId> above = ancestors_of(session, *subagent);
  return std::ranges::find(above, ancestor) != above.end();
}

std::vector<const Subagent*> children_of(const Session& session, const ThreadId& thread) {
  std::vector<const Subagent*> out;
  for (const auto& [_, subagent] : session.subagents)
    if (subagent.parent == thread) out.push_back(&subagent);
  return out;
}

std::size_t running_subagents(const Session& session) {
  return static_cast<std::size_t>(std::ranges::count_if(
      session.subagents, [](const auto& entry) { return entry.second.open > 0; }));
}

std::vector<Governing> governing(const Session& session, const Turn& turn) {
  static const TurnOptions kNoOptions;
  std::vector<Governing> out{{&policy_of(session, turn.ids.thread), &turn.options, nullptr}};
  ThreadId thread = turn.ids.thread;
  while (const Subagent* subagent = subagent_of(session, thread)) {
    out.back().write_roots = &subagent->write_roots;
    thread = subagent->parent;
    const Thread* above = find_thread(session, thread);
    const Turn* now = nullptr;
    if (above && above->active) now = &*above->active;
    if (above && !now && above->last) now = &*above->last;
    out.push_back({&policy_of(session, thread), now ? &now->options : &kNoOptions, nullptr});
  }
  return out;
}

SubagentSnapshot subagent_snapshot(const Session& session, const Subagent& subagent) {
  SubagentSnapshot out;
  out.subagent_id = subagent.id;
  out.session_id = session.id;
  out.thread_id = subagent.thread;
  out.parent_thread_id = subagent.parent;
  if (const Subagent* parent = subagent_of(session, subagent.parent))
    out.parent_subagent_id = parent->id;
  out.parent_turn_id = subagent.parent_turn;
  out.ancestors = ancestors_of(session, subagent);
  out.depth = out.ancestors.size();
  out.role = subagent.role;
  out.nickname = subagent.nickname;
  out.status = subagent.status;
  out.status_reason = subagent.reason;
  out.action_id = subagent.action;
  out.task_id = subagent.task;
  out.delegations = subagent.delegations;
  out.open_delegations = subagent.open;
  out.mode = subagent.mode;
  out.sandbox = subagent.sandbox;
  out.tools = subagent.tools;
  out.write_roots = subagent.write_roots;
  out.model = subagent.model;
  if (subagent.last_message_at > 0) {
    out.last_message_ref = log_ref(subagent.last_message_at);
    out.preview = std::string(utf8_prefix(subagent.last_message, kInputPreviewBytes));
  }
  out.last_error = subagent.error;
  out.spawned_at = subagent.spawned_at;
  out.updated_at = subagent.updated_at;
  out.closed_at = subagent.closed_at;
  return out;
}

}  // namespace agentrt::state
