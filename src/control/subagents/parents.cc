// control/subagents/parents.cc: what the turns of subagents mean for their parents: the facts that
// report their state to the parent's thread, and the end of calls that wait for them.
#include <algorithm>

#include <fmt/format.h>

#include "control/subagents/subagents.h"
#include "control/tool_calls.h"
#include "schema/file_tools.h"
#include "state/read_models.h"
#include "tools/registry.h"

namespace agentrt::control {

using namespace schema;
using state::Subagent;

namespace {

// One subagent in the result of a wait, for the model.
struct WaitedChild {
  std::string subagent_id;
  std::optional<std::string> role;
  std::optional<std::string> nickname;
  ChildStatus status = ChildStatus::closed;
  std::optional<std::string> message;
  std::optional<bool> message_truncated;
  std::optional<std::string> error;
};
BOOST_DESCRIBE_STRUCT(WaitedChild, (),
                      (subagent_id, role, nickname, status, message, message_truncated, error))
struct Waited {
  std::vector<WaitedChild> subagents;
  bool timed_out = false;
};
BOOST_DESCRIBE_STRUCT(Waited, (), (subagents, timed_out))

bool is_called(const Subagent& subagent, const std::string& name) {
  return subagent.nickname == name || (!subagent.nickname && subagent.role == name);
}

// The subagent below the thread with this id or, of the thread's own, with this name.
Result<SubagentId> named_child(const Session& view, const ThreadId& thread,
                               const std::string& name) {
  for (const auto& [id, subagent] : view.subagents)
    if (id.text() == name &&
        (subagent.parent == thread || state::is_below(view, subagent.thread, thread)))
      return id;
  std::vector<const Subagent*> found;
  for (const Subagent* child : state::children_of(view, thread))
    if (is_called(*child, name) || child->role == name) found.push_back(child);
  if (found.size() == 1) return found.front()->id;
  return fail(Code::invalid_params,
              found.empty()
                  ? fmt::format("none of your subagents is called {}, or it was closed", name)
                  : fmt::format("{} of your subagents are called {}: use the subagentId",
                                found.size(), name));
}

WaitedChild child_of(const Subagent& subagent, std::size_t bytes_max) {
  WaitedChild out;
  out.subagent_id = subagent.id.text();
  out.role = subagent.role;
  out.nickname = subagent.nickname;
  out.status = subagent.status;
  if (subagent.last_message_at > 0 && is_idle(subagent.status)) {
    out.message = std::string(utf8_prefix(subagent.last_message, bytes_max));
    if (subagent.last_message_cut || out.message->size() < subagent.last_message.size())
      out.message_truncated = true;
  }
  if (subagent.error && is_idle(subagent.status)) out.error = subagent.error->message;
  return out;
}

// --- reports to the parent ---

bool waits(Status status) {
  return status == Status::waiting_permission || status == Status::waiting_input;
}

// Whether the fact of a subagent's turn changes what its parent knows about it.
bool is_news(const Payload& payload) {
  if (const auto* status = std::get_if<RunStatus>(&payload))
    return status->status == Status::blocked || waits(status->status);
  return std::holds_alternative<TurnCompleted>(payload) ||
         std::holds_alternative<TurnFailed>(payload) ||
         std::holds_alternative<TurnStarted>(payload) ||
         std::holds_alternative<TaskResumed>(payload);
}

bool concerns_parent(const Session& view, const Draft& draft) {
  if (!draft.ids.subagent_id.empty()) return true;
  return is_news(draft.payload) && state::subagent_of(view, draft.ids.thread_id);
}

SubagentScope scope_of(const Facts& facts, const Session& view, const Subagent& subagent) {
  const Thread* thread = find_thread(view, subagent.parent);
  if (thread && thread->active) return {facts.of(thread->active->ids), subagent.id};
  return {facts.of(subagent.parent), subagent.id};
}

SubagentStatus status_of(const Subagent& subagent, const Ids& ids, Status status,
                         std::optional<std::string> reason) {
  SubagentStatus out;
  out.child_thread_id = subagent.thread;
  out.task_id = ids.task_id;
  out.status = status;
  out.reason = std::move(reason);
  return out;
}

// Adds the fact that reports this fact of a subagent's turn to its parent.
void report(Facts& facts, const Session& after, const Subagent& subagent, const Draft& draft) {
  const SubagentScope scope = scope_of(facts, after, subagent);
  if (std::holds_alternative<TurnCompleted>(draft.payload)) {
    SubagentCompleted completed;
    completed.child_thread_id = subagent.thread;
    completed.task_id = draft.ids.task_id;
    if (subagent.last_message_at > 0) {
      completed.last_message_ref = state::log_ref(subagent.last_message_at);
      completed.preview = std::string(utf8_prefix(subagent.last_message, kPreviewBytes));
    }
    facts.add(scope, std::move(completed));
  } else if (const auto* failed = std::get_if<TurnFailed>(&draft.payload)) {
    SubagentFailed out;
    out.child_thread_id = subagent.thread;
    out.task_id = draft.ids.task_id;
    out.error = failed->error.value_or(
        Failure{failed->status == Status::cancelled ? Category::cancelled : Category::internal,
                failed->reason, false});
    facts.add(scope, std::move(out));
  } else if (const auto* run = std::get_if<RunStatus>(&draft.payload)) {
    SubagentStatus out = status_of(subagent, draft.ids, run->status, run->phase);
    const Thread* thread = find_thread(after, subagent.thread);
    if (waits(run->status) && thread && thread->active && thread->active->action)
      out.action_id = thread->active->action->id;
    facts.add(scope, std::move(out));
  } else if (const auto* resumed = std::get_if<TaskResumed>(&draft.payload)) {
    facts.add(scope, status_of(subagent, draft.ids, Status::running, resumed->reason));
  } else {
    facts.add(scope, status_of(subagent, draft.ids, Status::running, "started"));
  }
}

// Keeps a view up to date with the facts of a decision while more are added.
class Continued {
 public:
  Continued(const Session& view, std::vector<Draft>& drafts, Timestamp now)
      : after(view), drafts_(drafts), now_(now) {
    for (const Draft& draft : drafts_) apply(draft);
  }
  void add(std::vector<Draft> more) {
    for (Draft& draft : more) {
      apply(draft);
      drafts_.push_back(std::move(draft));
    }
  }

  Session after;

 private:
  void apply(const Draft& draft) {
    state::fold(after, Fact{after.sequence + 1, now_, draft.ids, draft.payload});
  }

  std::vector<Draft>& drafts_;
  Timestamp now_;
};

bool was_queued(const Session& before, const Draft& draft) {
  const Thread* thread = find_thread(before, draft.ids.thread_id);
  return thread && std::ranges::any_of(thread->queue, [&](const Turn& turn) {
           return turn.ids.turn == draft.ids.turn_id;
         });
}

// Ends one call that waits for subagents and need not wait any longer. Empty: there is none.
std::vector<Draft> end_wait(const Session& after, Inputs& inputs) {
  for (const auto& [id, thread] : after.threads) {
    if (!thread.active || thread.status == Status::blocked || !thread.active->prepared ||
        thread.active->boot != inputs.boot)
      continue;
    for (const state::ToolCall& call : thread.active->tools) {
      if (call.stage != state::CallStage::started) continue;
      auto result = wait_result(after, id, call, false);
      if (!result) continue;
      Facts facts{after, inputs};
      end_agent_call(facts, ToolScope{facts.of(thread.active->ids), call.step, call.id}, call,
                     *std::move(result));
      go_on_after_call(facts, after, thread, inputs);
      return facts.take();
    }
  }
  return {};
}

}  // namespace

Result<std::vector<SubagentId>> waited_for(const Session& view, const ThreadId& thread,
                                           const tools::WaitCall& call) {
  std::vector<SubagentId> out;
  if (!call.subagents) {
    for (const Subagent* child : state::children_of(view, thread)) out.push_back(child->id);
    if (out.empty()) return fail(Code::invalid_params, "you have no subagents to wait for");
    return out;
  }
  for (const std::string& name : *call.subagents) {
    TRY_ASSIGN(SubagentId id, named_child(view, thread, name));
    if (std::ranges::find(out, id) == out.end()) out.push_back(std::move(id));
  }
  return out;
}

std::optional<std::string> wait_result(const Session& view, const std::vector<SubagentId>& waited,
                                       const tools::WaitCall& call, bool timed_out) {
  std::size_t idle = 0;
  Waited out;
  const std::size_t bytes_max = kToolTextBytesMax / 2 / std::max<std::size_t>(waited.size(), 1);
  for (const SubagentId& id : waited) {
    const Subagent* subagent = state::find_subagent(view, id);
    if (!subagent || subagent->open == 0) ++idle;
    out.subagents.push_back(subagent ? child_of(*subagent, bytes_max)
                                     : WaitedChild{.subagent_id = id.text()});
  }
  const bool enough = call.any ? idle > 0 : idle == waited.size();
  if (!enough && !timed_out) return std::nullopt;
  out.timed_out = !enough;
  return to_json(out);
}

std::optional<std::string> wait_result(const Session& view, const ThreadId& thread,
                                       const state::ToolCall& call, bool timed_out) {
  const auto request = tools::agent_call_in(call.tool, call.args.text);
  const auto* wait = request ? std::get_if<tools::WaitCall>(&*request) : nullptr;
  if (!wait) return std::nullopt;
  std::vector<SubagentId> waited;
  if (!wait->subagents) {
    for (const Subagent* child : state::children_of(view, thread)) waited.push_back(child->id);
  } else {
    // A subagent that was closed during the wait is no longer in the view.
    for (const std::string& name : *wait->subagents)
      waited.push_back(named_child(view, thread, name).value_or(SubagentId{name}));
  }
  return wait_result(view, waited, *wait, timed_out);
}

void end_agent_call(Facts& facts, const ToolScope& scope, const state::ToolCall& call,
                    std::string result) {
  facts.add(
      scope,
      ToolResult{.preview = result, .duration_ms = facts.ran_ms(call), .tool_name = call.tool});
  facts.add(scope, ItemCompleted{.kind = item_of(call.tool), .preview = std::move(result)});
}

Decided wait_due(const Session& view, const ReportWaitDue& report, Inputs inputs) {
  const OpenCall open = find_open_call(view, report.turn, report.call);
  if (!open) return Unchanged{};
  auto result = wait_result(view, open.thread->id, *open.call, true);
  if (!result) return Unchanged{};
  Facts facts{view, inputs};
  end_agent_call(facts,
                 ToolScope{facts.of(open.thread->active->ids), open.call->step, open.call->id},
                 *open.call, *std::move(result));
  go_on_after_call(facts, view, *open.thread, inputs);
  return accept(facts);
}

Decided with_parents(const Session& view, Decided decision, Inputs inputs) {
  auto* accepted = std::get_if<Accepted>(&decision);
  if (!accepted || std::ranges::none_of(accepted->facts, [&](const Draft& draft) {
        return concerns_parent(view, draft);
      }))
    return decision;
  Continued family{view, accepted->facts, inputs.now};
  for (std::size_t from = 0; from < accepted->facts.size();) {
    const std::size_t end = accepted->facts.size();
    for (; from < end; ++from) {
      const Draft draft = accepted->facts[from];
      const bool starts = std::holds_alternative<TurnStarted>(draft.payload);
      if (!is_news(draft.payload) || (starts && !was_queued(view, draft))) continue;
      const Subagent* subagent = state::subagent_of(family.after, draft.ids.thread_id);
      if (!subagent || !draft.ids.subagent_id.empty()) continue;
      Facts news{family.after, inputs};
      report(news, family.after, *subagent, draft);
      family.add(news.take());
    }
    from = accepted->facts.size();
    inputs.ids = inputs.ids.split();
    family.add(end_wait(family.after, inputs));
  }
  return decision;
}

}  // namespace agentrt::control
