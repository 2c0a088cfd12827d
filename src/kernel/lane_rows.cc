// kernel/lane_rows.cc: how a lane reads the rows that a decision needs, and how claims wait for a
// free task.
#include <algorithm>
#include <unordered_set>

#include "kernel/lane.h"

namespace agentrt::kernel {

void finish(Work& work, ports::Reply reply) {
  if (auto* command = std::get_if<CommandWork>(&work)) return command->reply_to(std::move(reply));
  ReportWork& report = std::get<ReportWork>(work);
  if (report.reply_to)
    report.reply_to(std::move(reply));
  else if (report.taken)
    report.taken();
}

bool has_asker(const Work& work) {
  const auto* report = std::get_if<ReportWork>(&work);
  return std::holds_alternative<CommandWork>(work) || (report && report->reply_to);
}

bool is_report(const Work& work) {
  return std::holds_alternative<ReportWork>(work) && !has_asker(work);
}

control::Needs needs_of_work(const state::Session& view, const Work& work) {
  if (const auto* command = std::get_if<CommandWork>(&work))
    return control::needs_of(view, command->command);
  if (const auto* report = std::get_if<ReportWork>(&work))
    return control::needs_of(view, report->report);
  return {};
}

bool Lanes::has_needs(const Lane& lane, const control::Needs& needs) {
  if (!needs.only_tasks()) return false;
  if (needs.thread && lane.view.threads_closed > 0 && !lane.view.threads.contains(*needs.thread))
    return false;
  return std::ranges::all_of(needs.tasks, [&](const TaskId& id) {
    const state::Task* task = lane.tasks.find(id);
    while (task && task->parent_task_id) task = lane.tasks.find(*task->parent_task_id);
    return task != nullptr;
  });
}

void Lanes::read_needs(Lane& lane, control::Needs needs) {
  lane.state = LaneState::reading;
  auto shared = std::make_shared<control::Needs>(std::move(needs));
  const bool taken = parts_.readers.run([this, id = lane.id, shared] {
    auto gathered =
        gather(parts_.store, id, *shared, parts_.settings.task_depth_max, parts_.file_digests);
    parts_.loop.post([this, id, gathered = std::move(gathered)]() mutable {
      have_read(lane_of(id), std::move(gathered));
    });
  });
  if (!taken)
    parts_.loop.after(parts_.limits.storage_retry_ms, [this, id = lane.id, shared] {
      read_needs(lane_of(id), std::move(*shared));
    });
}

// A command gets the error. A report stays first in the queue if a later read may succeed.
void Lanes::have_read(Lane& lane, Result<Gathered> gathered) {
  lane.state = LaneState::ready;
  if (gathered) {
    keep_tasks(lane, std::move(gathered->tasks));
    lane.gathered = std::move(gathered->named);
    return advance(lane);
  }
  if (is_report(lane.queue.front()) && may_pass(gathered.error())) {
    hold(lane);
    return advance(lane);
  }
  Work work = std::move(lane.queue.front());
  lane.queue.pop_front();
  if (std::holds_alternative<CommandWork>(work)) --lane.commands;
  finish(work, std::unexpected(gathered.error()));
  advance(lane_of(lane.id));
}

// A record in memory is newer than its row, or equal.
void Lanes::keep_tasks(Lane& lane, std::vector<state::Task> tasks) {
  for (state::Task& task : tasks)
    if (!lane.tasks.contains(task.task_id)) lane.tasks.put(std::move(task));
}

void Lanes::drop_tasks(Lane& lane) {
  if (lane.tasks.size() <= parts_.limits.tasks_kept_max) return;
  std::unordered_set<TaskId> needed;
  const auto need = [&](const TaskId& id) {
    const state::Task* task = lane.tasks.find(id);
    for (; task && needed.insert(task->task_id).second;)
      task = task->parent_task_id ? lane.tasks.find(*task->parent_task_id) : nullptr;
  };
  for (const auto& [_, thread] : lane.view.threads) {
    if (thread.active) need(thread.active->ids.task);
    for (const state::Turn& turn : thread.queue) need(turn.ids.task);
  }
  for (const auto& [_, job] : lane.view.jobs) need(job.record.ids.task);
  lane.tasks.drop_unless([&](const TaskId& id) { return needed.contains(id); });
}

bool Lanes::park(Lane& lane, CommandWork& work, const control::Decided& decision) {
  const auto* claim = std::get_if<schema::ClaimTask>(&work.command);
  if (!claim || !std::holds_alternative<control::Unchanged>(decision)) return false;
  if (!work.wait_until) work.wait_until = parts_.loop.now() + claim->wait_ms.value_or(0);
  const std::int64_t left = *work.wait_until - parts_.loop.now();
  if (left <= 0 || lane.parked.size() >= parts_.limits.claims_waiting_max) return false;
  const std::uint64_t number = ++parked_;
  const auto timer =
      parts_.loop.after(left, [this, id = lane.id, number] { parked_until(id, number); });
  lane.parked.push_back({number, std::move(work), timer});
  return true;
}

// The claim has waited long enough: it gets the answer that no task is free.
void Lanes::parked_until(const SessionId& session, std::uint64_t number) {
  const auto found = lanes_.find(session);
  if (found == lanes_.end()) return;
  Lane& lane = *found->second;
  const auto at = std::ranges::find(lane.parked, number, &Lane::Parked::number);
  if (at == lane.parked.end()) return;
  CommandWork work = std::move(at->work);
  lane.parked.erase(at);
  put(session, std::move(work));
}

// A task has become free: the claims that wait are decided again, oldest first.
void Lanes::unpark(Lane& lane) {
  for (Lane::Parked& parked : lane.parked) {
    parts_.loop.cancel(parked.timer);
    lane.queue.emplace_back(std::move(parked.work));
    ++lane.commands;
  }
  lane.parked.clear();
}

}  // namespace agentrt::kernel
