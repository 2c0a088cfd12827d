// control/testing/task_desk.h: decides commands and reports about tasks one after another, as a
// lane does, with every record in memory.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "control/testing/given.h"
#include "state/tasks.h"

namespace agentrt::control {

class TaskDesk {
 public:
  TaskDesk() {
    view_.id = state::kSession;
    add({schema::Draft{schema::SessionScope{state::kSession},
                       schema::SessionCreated{.cwd = "/w"}}});
  }

  const state::Session& view() const { return view_; }
  const state::Tasks& tasks() const { return tasks_; }
  const state::Task& task(const std::string& id) const { return *tasks_.find(TaskId{id}); }
  const std::vector<schema::Fact>& log() const { return log_; }
  Timestamp now() const { return now_; }
  void wait(std::int64_t ms) { now_ = now_ + ms; }
  Settings settings{.default_cwd = "/w"};
  bool approver = true;

  template <class What>
  Outcome give(const What& what) {
    Inputs in = inputs_at(now_);
    in.ids = FreshIds{now_, ++draws_};
    in.settings = &settings;
    in.tasks = &tasks_;
    in.approver = approver;
    in.named.add(gather(needs_of(view_, what)));
    Outcome out{decide(view_, what, std::move(in)), {}, view_};
    if (auto* accepted = std::get_if<Accepted>(&out.decision)) {
      const std::size_t before = log_.size();
      add(accepted->facts);
      out.facts.assign(log_.begin() + static_cast<std::ptrdiff_t>(before), log_.end());
    }
    out.after = view_;
    return out;
  }
  template <class C>
  Outcome command(const C& command) {
    return give(schema::Command{command});
  }
  template <class R>
  Outcome report(const R& report) {
    return give(schema::Report{report});
  }
  // Records the consequences of tasks for others until there are none. Returns the reports needed.
  std::size_t settle() {
    std::size_t reports = 0;
    for (bool any = true; any;) {
      any = false;
      std::vector<TaskId> ids;
      for (const auto& [id, task] : tasks_.records())
        if (state::continues(task)) ids.push_back(id);
      for (const TaskId& id : ids) {
        ++reports;
        any |= !report(schema::ReportTaskContinues{id}).facts.empty();
      }
    }
    return reports;
  }
  // Reports every time limit that has passed.
  void tick() {
    std::vector<TaskId> due;
    for (const auto& [id, task] : tasks_.records())
      if (const auto at = state::due_of(task); at && *at <= now_) due.push_back(id);
    for (const TaskId& id : due) report(schema::ReportTaskDue{id});
  }

 private:
  void add(const std::vector<schema::Draft>& drafts) {
    for (const schema::Draft& draft : drafts) {
      log_.push_back({view_.sequence + 1, now_, draft.ids, draft.payload});
      state::fold(view_, log_.back());
      state::TaskChanges changes;
      state::fold_tasks(tasks_, log_.back(), changes);
    }
  }
  LaneReads gather(const Needs& needs) const {
    LaneReads named;
    for (const Needs::List& list : needs.lists) {
      std::vector<const state::Task*> found;
      for (const auto& [_, task] : tasks_.records()) {
        const auto terms = state::terms_of(task);
        if (std::ranges::find(terms, list.term) != terms.end()) found.push_back(&task);
      }
      std::ranges::sort(found, {}, [](const state::Task* task) { return task->first; });
      auto& ids = named.lists.emplace_back();
      for (std::size_t i = 0; i < std::min(found.size(), list.limit); ++i)
        ids.push_back(found[i]->task_id);
    }
    if (needs.walk) walk(*needs.walk, named);
    for (const std::string& ref : needs.refs)
      if (std::ranges::find(stored_refs, ref) == stored_refs.end())
        named.missing_refs.push_back(ref);
    named.thread_closed =
        needs.thread && std::ranges::any_of(log_, [&](const schema::Fact& fact) {
          const auto* updated = std::get_if<schema::ThreadUpdated>(&fact.payload);
          return updated && updated->reason == "closed" && fact.ids.thread_id == *needs.thread;
        });
    return named;
  }
  void walk(const Needs::Walk& walk, LaneReads& named) const {
    std::map<TaskId, TaskId> by{{walk.from, walk.from}};
    std::deque<TaskId> ahead{walk.from};
    while (!ahead.empty()) {
      const TaskId at = ahead.front();
      ahead.pop_front();
      if (std::ranges::find(walk.to, at) != walk.to.end()) {
        for (TaskId step = at;; step = by.at(step)) {
          named.cycle.push_back(step);
          if (step == walk.from) return;
        }
      }
      for (const auto& [id, task] : tasks_.records()) {
        const auto blockers = state::blockers_of(task);
        const state::Task* here = tasks_.find(at);
        const bool waits = std::ranges::find(blockers, at) != blockers.end() ||
                           (here && here->parent_task_id == id);
        if (waits && by.emplace(id, at).second) ahead.push_back(id);
      }
    }
  }

 public:
  std::vector<std::string> stored_refs;

 private:
  state::Session view_;
  state::Tasks tasks_;
  std::vector<schema::Fact> log_;
  Timestamp now_ = state::kStart;
  std::uint64_t draws_ = 0;
};

inline schema::CreateTask new_task(const std::string& id,
                                   std::vector<std::string> blocked_by = {}) {
  schema::CreateTask command{.session_id = state::kSession, .objective = "do " + id};
  command.task_id = TaskId{id};
  if (!blocked_by.empty()) {
    command.blocked_by.emplace();
    for (std::string& blocker : blocked_by) command.blocked_by->emplace_back(std::move(blocker));
  }
  return command;
}

inline schema::TaskWorker external(const std::string& name) {
  return {schema::WorkerKind::external, {}, {}, name};
}

}  // namespace agentrt::control
