// control/steer.cc: decides interrupts, changes of the queue, and resuming after a stop.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "control/actions.h"
#include "control/channels/channels.h"
#include "control/hooks.h"
#include "control/processes.h"
#include "control/subagents/subagents.h"
#include "control/submit.h"
#include "control/tool_calls.h"
#include "control/turn_facts.h"

namespace agentrt::control {

using namespace schema;

namespace {

Decided no_session(const Inputs& inputs) {
  return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
}

Decided no_thread(const ThreadId& thread) {
  return refuse(Code::not_found,
                fmt::format("there is no thread {} in this session", thread.text()));
}

// Removes one turn from a queue and cancels it.
void drop_queued(Facts& facts, const Thread& thread, const Turn& turn, const std::string& reason) {
  facts.cancel(turn, reason);
  facts.add(facts.of(turn.ids), QueueChanged{.change = QueueChange::removed,
                                             .turn_id = turn.ids.turn,
                                             .position = 0,
                                             .count = thread.queue.size() - 1});
}

// Whether the command means turns of this thread. One that names neither a thread nor a turn leaves
// out the items of jobs and subagents, which end with their jobs and parents.
bool is_meant(const Thread& thread, const InterruptTurn& command) {
  if (command.thread_id && *command.thread_id != thread.id) return false;
  if (command.thread_id || command.turn_id) return true;
  return !thread.subagent && !(thread.active && thread.active->source == "job");
}

// Whether the command ends the running turn of the thread.
bool ends_active(const Thread& thread, const InterruptTurn& command) {
  return thread.active && (!command.turn_id || *command.turn_id == thread.active->ids.turn);
}

// Interrupts the turns of one thread that the command selects; adds them to `ended`.
void interrupt_thread(Facts& facts, const Thread& thread, const InterruptTurn& command,
                      std::vector<TurnId>& ended) {
  const std::string reason = command.reason.value_or("interrupted");
  const auto means = [&](const Turn& turn) {
    return !command.turn_id || *command.turn_id == turn.ids.turn;
  };
  if (command.turn_id) {
    const auto waiting = std::ranges::find_if(thread.queue, means);
    if (waiting != thread.queue.end()) {
      drop_queued(facts, thread, *waiting, reason);
      ended.push_back(waiting->ids.turn);
      return;
    }
  }
  if (!thread.active || !means(*thread.active)) return;
  facts.cancel(*thread.active, reason);
  ended.push_back(thread.active->ids.turn);
  if (command.queue.value_or(QueueKeep::keep) == QueueKeep::keep) return facts.start_next(thread);
  if (thread.queue.empty()) return;
  for (const Turn& turn : thread.queue) {
    facts.cancel(turn, reason);
    ended.push_back(turn.ids.turn);
  }
  facts.add(facts.of(thread.id), QueueChanged{.change = QueueChange::cleared,
                                              .turn_id = thread.queue.front().ids.turn,
                                              .position = 0,
                                              .count = 0});
}

std::vector<TurnId> order_of(const std::vector<Turn>& queue) {
  std::vector<TurnId> out;
  for (const Turn& turn : queue) out.push_back(turn.ids.turn);
  return out;
}

struct QueuedPlace {
  const Thread* thread;
  std::size_t index;
};

std::variant<QueuedPlace, Error> find_queued(const Session& view, const ThreadId& thread_id,
                                             const TurnId& turn, const Inputs& inputs) {
  if (!view.exists()) return std::get<Error>(no_session(inputs));
  const Thread* thread = find_thread(view, thread_id);
  if (!thread) return std::get<Error>(no_thread(thread_id));
  for (std::size_t i = 0; i < thread->queue.size(); ++i)
    if (thread->queue[i].ids.turn == turn) return QueuedPlace{thread, i};
  std::optional<Status> status;
  if (const Turn* known = find_turn(view, turn))
    status = known->status;
  else if (inputs.named.turn)
    status = inputs.named.turn->status;
  if (!status)
    return Error{
        Code::not_found, fmt::format("there is no turn {} in this thread", turn.text()), {}};
  return Error{Code::conflict, fmt::format("turn {} is not in the queue", turn.text()),
               fmt::format(R"({{"status":"{}"}})", name_of(*status))};
}

}  // namespace

bool is_resumable(const Thread& thread) {
  return thread.active && thread.status == Status::blocked && thread.resumable.value_or(false);
}

Decided interrupt_turn(const Session& view, const InterruptTurn& command, Inputs inputs) {
  if (!view.exists()) return no_session(inputs);
  if (command.thread_id && !find_thread(view, *command.thread_id))
    return no_thread(*command.thread_id);
  if (command.turn_id && !find_turn(view, *command.turn_id) && !inputs.named.turn)
    return refuse(Code::not_found, fmt::format("there is no turn {}", command.turn_id->text()));
  Facts facts{view, inputs};
  InterruptTurnReply reply{
      .session_id = view.id, .interrupted = false, .turn_ids = {}, .sequence = view.sequence};
  for (const auto& [id, thread] : view.threads) {
    // An item of a job ends only if the command names its thread or turn.
    const bool of_job = thread.active && thread.active->item;
    if (of_job && !command.thread_id && !command.turn_id) continue;
    if (!is_meant(thread, command)) continue;
    // The children first: their ends decide whether the task of the turn still waits for them.
    std::vector<TurnId> below;
    const std::string reason = command.reason.value_or("its parent was interrupted");
    const bool runs = ends_active(thread, command);
    if (runs && command.subagents != SubagentKeep::keep)
      end_below(facts, view, id, reason, below);
    else if (runs)
      release_below(facts, view, *thread.active, reason, inputs);
    interrupt_thread(facts, thread, command, reply.turn_ids);
    std::ranges::copy(below, std::back_inserter(reply.turn_ids));
  }
  reply.interrupted = !reply.turn_ids.empty();
  if (command.processes == ProcessKeep::end) {
    if (command.turn_id && reply.turn_ids.empty())  // background processes may outlive their turn
      end_background(facts, view, *command.turn_id, command.reason.value_or("interrupted"));
    for (const TurnId& turn : reply.turn_ids)
      end_background(facts, view, turn, command.reason.value_or("interrupted"));
  }
  if (facts.empty()) return Unchanged{to_json(reply)};
  return accept(facts, std::move(reply));
}

Decided remove_queued_turn(const Session& view, const RemoveQueuedTurn& command, Inputs inputs) {
  auto found = find_queued(view, command.thread_id, command.queued_turn_id, inputs);
  if (auto* error = std::get_if<Error>(&found)) return std::move(*error);
  const auto [thread, index] = std::get<QueuedPlace>(found);
  Facts facts{view, inputs};
  drop_queued(facts, *thread, thread->queue[index], "removed from the queue");
  std::vector<TurnId> order = order_of(thread->queue);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(index));
  return accept(facts,
                QueueReply{view.id, thread->id, command.queued_turn_id, std::move(order), 0});
}

Decided promote_queued_turn(const Session& view, const PromoteQueuedTurn& command, Inputs inputs) {
  auto found = find_queued(view, command.thread_id, command.queued_turn_id, inputs);
  if (auto* error = std::get_if<Error>(&found)) return std::move(*error);
  const auto [thread, index] = std::get<QueuedPlace>(found);
  std::vector<TurnId> order = order_of(thread->queue);
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(index),
              order.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  QueueReply reply{view.id, thread->id, command.queued_turn_id, std::move(order), view.sequence};
  if (index == 0) return Unchanged{to_json(reply)};
  Facts facts{view, inputs};
  facts.add(facts.of(thread->queue[index].ids), QueueChanged{.change = QueueChange::promoted,
                                                             .turn_id = command.queued_turn_id,
                                                             .position = 1,
                                                             .count = thread->queue.size()});
  return accept(facts, std::move(reply));
}

Decided resume_thread(const Session& view, const ResumeThread& command, Inputs inputs) {
  if (!view.exists()) return no_session(inputs);
  const Thread* thread = find_thread(view, command.thread_id);
  if (!thread) return no_thread(command.thread_id);
  ResumeThreadReply reply{.session_id = view.id,
                          .thread_id = thread->id,
                          .resumed = false,
                          .status = thread->status,
                          .turn_id = std::nullopt,
                          .sequence = view.sequence};
  if (thread->active) reply.turn_id = thread->active->ids.turn;
  const bool own = is_resumable(*thread);
  if (own && command.resume_token && *command.resume_token != thread->active->ids.turn.text())
    return refuse(Code::conflict, "the resume token is out of date: read the thread again",
                  fmt::format(R"({{"activeTurnId":{}}})", to_json(thread->active->ids.turn)));
  Facts facts{view, inputs};
  if (own) {
    facts.resume(*thread->active);
    reply.status = Status::preparing;
  }
  const bool below = resume_below(facts, view, thread->id);
  reply.resumed = own || below;
  if (facts.empty()) return Unchanged{to_json(reply)};
  return accept(facts, std::move(reply));
}

Decided restarted(const Session& view, const ReportRestarted&, Inputs inputs) {
  Facts facts{view, inputs};
  disconnect_earlier(facts, view, inputs);
  for (const auto& [_, thread] : view.threads) {
    if (!thread.active || thread.status == Status::blocked || thread.active->boot == inputs.boot)
      continue;
    const Turn& turn = *thread.active;
    if (state::waits_for_person(turn)) continue;
    if (turn.action)
      withdraw(facts, turn, "cancelled",
               "the runtime stopped, and with it the MCP server that asked");
    if (turn.hook) {
      const OnFailure meant = fail_hook(
          facts, turn, {Category::interrupted, "the runtime stopped while the hook ran", false}, 0);
      // A failed hook about a call refuses only that call, not the turn.
      const bool of_call = turn.hook->point == HookPoint::pre_tool_use ||
                           turn.hook->point == HookPoint::permission_request;
      if (meant == OnFailure::closed && !of_call) {
        const Failure error{Category::interrupted, "the runtime stopped while a required hook ran",
                            true};
        Turn rest = turn;  // calls that were shown while the model wrote them
        rest.hook.reset();
        rest.action.reset();
        close_tools(facts, rest, error, inputs.boot);
        facts.fail(turn, error);
        facts.start_next(thread);
        continue;
      }
    }
    facts.close_request(turn, Category::interrupted,
                        "the runtime stopped before the model answered");
    const bool restores = turn.work && turn.work->restore;
    if (turn.item || restores) {  // a job resumes by itself, and so do files
      facts.add(
          facts.of(turn.ids),
          ThreadUpdated{.status = Status::running, .reason = "resumed", .boot_id = inputs.boot});
      continue;
    }
    facts.block(turn, "restart", "Interrupted by a restart",
                "the runtime stopped while this turn was running; resume_thread continues it");
    const bool configured = inputs.settings->after_restart == AfterRestart::resume;
    if (turn.options.resume.value_or(configured)) facts.resume(turn);
  }
  return accept(facts);
}

}  // namespace agentrt::control
