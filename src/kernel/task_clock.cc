#include "kernel/task_clock.h"

#include <algorithm>
#include <utility>

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kStartPage = 256;

store::IndexQuery after(store::IndexQuery query, const std::optional<store::IndexEntry>& last) {
  query.limit = kStartPage;
  if (!last) return query;
  query.before = last->session_order;
  query.before_first = last->row.first;
  query.before_id = last->row.id;
  return query;
}

}  // namespace

void TaskClock::start() {
  scan();
  find_open({});
  find_beats({});
}

void TaskClock::read(std::function<Result<std::vector<store::IndexEntry>>()> what,
                     std::function<void(std::vector<store::IndexEntry>)> then) {
  const auto retry = [this, what, then] {
    parts_.loop.after(parts_.retry_ms, [this, what, then] { read(what, then); });
  };
  const bool taken = parts_.readers.run([this, what, then, retry] {
    auto found = what();
    parts_.loop.post([then, retry, found = std::move(found)]() mutable {
      if (found) return then(*std::move(found));
      retry();
    });
  });
  if (!taken) retry();
}

// --- work that tasks cause for others ---

void TaskClock::find_open(std::optional<store::IndexEntry> last) {
  const store::IndexQuery query =
      after({.kind = std::string(state::kTaskKind), .open_only = true}, last);
  read([this, query] { return parts_.store.list(query); },
       [this](std::vector<store::IndexEntry> page) {
         for (const store::IndexEntry& entry : page)
           parts_.report(entry.session, ReportTaskContinues{TaskId{entry.row.id}}, {});
         if (page.size() == kStartPage) find_open(page.back());
       });
}

void TaskClock::stored(const SessionId& session, const state::Task& task) {
  if (continues(task)) parts_.report(session, ReportTaskContinues{task.task_id}, {});
  const std::int64_t interval = heartbeat_of(task);
  if (interval > 0)
    watch(session, task.task_id, *task.current_run_id, interval);
  else
    forget(task.task_id);
  if (const auto due = due_of(task)) look_at(*due);
}

// --- heartbeats ---

void TaskClock::find_beats(std::optional<store::IndexEntry> last) {
  store::IndexQuery query{.kind = std::string(state::kTaskKind)};
  query.term = "beats";
  query = after(query, last);
  read([this, query] { return parts_.store.list(query); },
       [this](std::vector<store::IndexEntry> page) {
         for (const store::IndexEntry& entry : page) {
           const auto task = state::decode_task(entry.row.record);
           if (!task || !task->current_run_id) continue;
           if (const std::int64_t interval = heartbeat_of(*task);
               interval > 0 && !beats_.contains(task->task_id))
             watch(entry.session, task->task_id, *task->current_run_id, interval);
         }
         if (page.size() == kStartPage) find_beats(page.back());
       });
}

void TaskClock::watch(const SessionId& session, const TaskId& task, const RunId& run,
                      std::int64_t interval_ms) {
  Beat& beat = beats_[task];
  beat.session = session;
  beat.run = run;
  beat.interval_ms = interval_ms;
  arm(task, beat);
  count();
}

void TaskClock::arm(const TaskId& task, Beat& beat) {
  if (beat.timer != 0) parts_.loop.cancel(beat.timer);
  beat.fired = false;
  beat.timer = parts_.loop.after(beat.interval_ms, [this, task] {
    const auto found = beats_.find(task);
    if (found == beats_.end()) return;
    found->second.timer = 0;
    found->second.fired = true;
    parts_.report(found->second.session, ReportTaskSilent{task, found->second.run}, {});
  });
}

void TaskClock::forget(const TaskId& task) {
  const auto found = beats_.find(task);
  if (found == beats_.end()) return;
  if (found->second.timer != 0) parts_.loop.cancel(found->second.timer);
  beats_.erase(found);
  count();
}

void TaskClock::beat(const TaskId& task, const RunId& run) {
  const auto found = beats_.find(task);
  if (found != beats_.end() && found->second.run == run) arm(task, found->second);
}

bool TaskClock::silent(const TaskId& task, const RunId& run) const {
  const auto found = beats_.find(task);
  return found != beats_.end() && found->second.run == run && found->second.fired;
}

// --- time limits ---

void TaskClock::look_at(Timestamp due) {
  if (next_ && *next_ <= due) return;
  next_ = due;
  if (timer_) parts_.loop.cancel(*timer_);
  const std::int64_t wait = std::clamp<std::int64_t>(due - parts_.loop.now(), 0, kDueWaitMaxMs);
  timer_ = parts_.loop.after(wait, [this] {
    timer_.reset();
    next_.reset();
    scan();
  });
  count();
}

void TaskClock::scan() {
  if (std::exchange(scanning_, true)) {
    scan_again_ = true;
    return;
  }
  read([this] { return parts_.store.due(kDuePage); },
       [this](std::vector<store::IndexEntry> due) {
         scanning_ = false;
         scanned(std::move(due));
         if (std::exchange(scan_again_, false)) scan();
       });
}

void TaskClock::scanned(Result<std::vector<store::IndexEntry>> due) {
  const Timestamp now = parts_.loop.now();
  for (const store::IndexEntry& entry : *due) {
    if (*entry.row.due > now) {
      look_at(*entry.row.due);
      break;
    }
    if (entry.row.kind == state::kTaskKind) report_due(entry);
  }
  count();
}

void TaskClock::report_due(const store::IndexEntry& entry) {
  const std::string& id = entry.row.id;
  const Timestamp due = *entry.row.due;
  if (const auto cooling = cooling_.find(id); cooling != cooling_.end() && cooling->second == due)
    return;
  if (!reported_.insert(id).second) return;
  parts_.report(entry.session, ReportTaskDue{TaskId{id}},
                [this, id, due] { parts_.loop.post([this, id, due] { decided(id, due); }); });
}

// A report that changed something has moved the due time of the row. Another one must not repeat at
// once.
void TaskClock::decided(const std::string& id, Timestamp due) {
  reported_.erase(id);
  cooling_[id] = due;
  parts_.loop.after(kDueAgainMs, [this, id, due] {
    const auto found = cooling_.find(id);
    if (found == cooling_.end() || found->second != due) return;
    cooling_.erase(found);
    if (cooling_.empty()) scan();
  });
  if (reported_.empty()) scan();
  count();
}

void TaskClock::count() { armed_ = beats_.size() + (timer_ || !reported_.empty() ? 1 : 0); }

}  // namespace agentrt::kernel
