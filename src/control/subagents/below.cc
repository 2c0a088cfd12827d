// control/subagents/below.cc: what happens to the subagents below a thread when its turn ends or
// resumes.
#include <algorithm>

#include "control/subagents/subagents.h"
#include "control/submit.h"
#include "control/tasks/task_facts.h"

namespace agentrt::control {

using namespace schema;
using state::Subagent;

TaskDependencyUpdated parent_edge(const TaskId& parent, EdgeStatus status) {
  return {.relationship = std::string(name_of(EdgeKind::parent)),
          .target_id = parent.text(),
          .status = std::string(name_of(status))};
}

void cancel_turns(Facts& facts, const Thread& thread, const std::string& reason,
                  std::vector<TurnId>& ended) {
  if (thread.active) {
    facts.cancel(*thread.active, reason);
    ended.push_back(thread.active->ids.turn);
  }
  for (const Turn& turn : thread.queue) {
    facts.cancel(turn, reason);
    ended.push_back(turn.ids.turn);
  }
  if (!thread.queue.empty())
    facts.add(facts.of(thread.id), QueueChanged{.change = QueueChange::cleared,
                                                .turn_id = thread.queue.front().ids.turn,
                                                .position = 0,
                                                .count = 0});
}

void collect_below(const Session& view, const ThreadId& thread, std::vector<const Subagent*>& out) {
  for (const Subagent* child : state::children_of(view, thread)) {
    collect_below(view, child->thread, out);
    out.push_back(child);
  }
}

std::vector<ThreadId> threads_below(const Session& view, const ThreadId& thread) {
  std::vector<const Subagent*> below;
  collect_below(view, thread, below);
  std::vector<ThreadId> out;
  for (const Subagent* subagent : below) out.push_back(subagent->thread);
  return out;
}

void end_below(Facts& facts, const Session& view, const ThreadId& thread, const std::string& reason,
               std::vector<TurnId>& ended) {
  for (const ThreadId& id : threads_below(view, thread))
    if (const Thread* own = find_thread(view, id)) cancel_turns(facts, *own, reason, ended);
}

void release_below(Facts& facts, const Session& view, const Turn& turn, const std::string& reason,
                   const Inputs& inputs) {
  const auto release = [&](const Turn& below) {
    const state::Task* task = task_of(inputs, below.ids.task);
    if (!task || task->parent_task_id != turn.ids.task) return;
    TaskDependencyUpdated edge = parent_edge(turn.ids.task, EdgeStatus::removed);
    edge.reason = reason;
    facts.add(facts.of(below.ids), std::move(edge));
  };
  for (const ThreadId& id : threads_below(view, turn.ids.thread))
    if (const Thread* own = find_thread(view, id)) {
      if (own->active) release(*own->active);
      std::ranges::for_each(own->queue, release);
    }
}

void adopt_below(Facts& facts, const Session& view, const Turn& turn, const Inputs& inputs) {
  const TaskId& parent = turn.ids.task;
  for (const ThreadId& id : threads_below(view, turn.ids.thread)) {
    const Thread* own = find_thread(view, id);
    const state::Task* task = own && own->active ? task_of(inputs, own->active->ids.task) : nullptr;
    if (task && !task->parent_task_id && task->task_id != parent &&
        !is_beneath(task_of(inputs, parent), task->task_id, inputs))
      facts.add(facts.of(own->active->ids), parent_edge(parent, EdgeStatus::active));
  }
}

void drop_queued_below(Facts& facts, const Session& view, const Turn& turn,
                       const std::string& reason, const Inputs& inputs) {
  for (const ThreadId& id : threads_below(view, turn.ids.thread)) {
    const Thread* own = find_thread(view, id);
    if (!own) continue;
    std::uint64_t left = own->queue.size();
    for (const Turn& queued : own->queue) {
      if (!is_beneath(task_of(inputs, queued.ids.task), turn.ids.task, inputs)) continue;
      facts.cancel(queued, reason);
      facts.add(facts.of(queued.ids), QueueChanged{.change = QueueChange::removed,
                                                   .turn_id = queued.ids.turn,
                                                   .position = 0,
                                                   .count = --left});
    }
  }
}

bool resume_below(Facts& facts, const Session& view, const ThreadId& thread) {
  bool any = false;
  for (const ThreadId& id : threads_below(view, thread)) {
    const Thread* own = find_thread(view, id);
    if (!own || !is_resumable(*own)) continue;
    facts.resume(*own->active);
    any = true;
  }
  return any;
}

}  // namespace agentrt::control
