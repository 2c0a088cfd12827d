#include "validate/task_rules.h"

#include <algorithm>
#include <unordered_set>

namespace agentrt::validate {

using namespace schema;

namespace {

bool is_final(TaskStatus status) {
  return status == TaskStatus::completed || status == TaskStatus::cancelled ||
         status == TaskStatus::archived;
}

// Only a retry that names the task may follow.
bool is_retryable_end(TaskStatus status) {
  return status == TaskStatus::failed || status == TaskStatus::timed_out ||
         status == TaskStatus::lost;
}

// Whether a fact of this type may carry `status`: the usual status of the type, or an equivalent.
bool fits(std::string_view type, TaskStatus status, TaskStatus usual) {
  using enum TaskStatus;
  const auto one_of = [&](std::initializer_list<TaskStatus> words) {
    return std::ranges::find(words, status) != words.end();
  };
  if (status == usual) return true;
  if (type == TaskCreated::kType || type == TaskUpdated::kType)
    return !is_final(status) && !is_retryable_end(status);
  if (type == TaskStarted::kType) return status == preparing;
  if (type == TaskResumed::kType) return one_of({queued, preparing});
  if (type == TaskRetrying::kType) return one_of({queued, preparing, running});
  return (type == TaskWaiting::kType || type == TaskBlocked::kType) &&
         one_of({blocked, waiting_input, waiting_permission, waiting_resource});
}

}  // namespace

TaskRules::Task* TaskRules::task() {
  const std::string& id = hearing_.head().task_id;
  if (id.empty()) return nullptr;
  const Key key = hearing_.key(id);
  if (Task* found = tasks_.find(key)) return found;
  if (!hearing_.excuses(tasks_))
    hearing_.fail("task.first", fmt::format("task {} was not created", id));
  Task& unknown = tasks_.at(key);
  unknown.started = true;
  return &unknown;
}

// The task, unless it has ended, which is a violation.
TaskRules::Task* TaskRules::open_task() {
  Task* found = task();
  if (!found || (!is_final(found->status) && !is_retryable_end(found->status))) return found;
  hearing_.fail("task.final",
                fmt::format("task {} is {}", hearing_.head().task_id, name_of(found->status)));
  return nullptr;
}

void TaskRules::operator()(const TaskCreated& p) {
  const std::string& id = hearing_.head().task_id;
  if (id.empty()) return;
  const Key key = hearing_.key(id);
  if (tasks_.find(key))
    return hearing_.fail("task.order", fmt::format("task {} is created a second time", id));
  pair();
  Task& made = tasks_.at(key);
  made.status = said(p.status, TaskStatus::accepted);
  if (p.visibility == Visibility::internal && !hearing_.head().turn_id.empty())
    made.turn = hearing_.key(hearing_.head().turn_id);
  made.started = made.status != TaskStatus::accepted && made.status != TaskStatus::queued &&
                 made.status != TaskStatus::draft;
}

// The new status: the one in the fact, or the type's usual status if the fact contradicts its type.
TaskStatus TaskRules::said(TaskStatus status, TaskStatus usual) {
  if (fits(hearing_.head().type, status, usual)) return status;
  hearing_.fail("task.order",
                fmt::format("{} has status {}", hearing_.head().type, name_of(status)));
  return usual;
}

void TaskRules::moves(TaskStatus to) {
  if (Task* open = open_task()) open->status = to;
}

void TaskRules::operator()(const TaskAccepted& p) { moves(said(p.status, TaskStatus::accepted)); }
void TaskRules::operator()(const TaskQueued& p) { moves(said(p.status, TaskStatus::queued)); }
void TaskRules::operator()(const TaskWaiting& p) {
  moves(said(p.status, TaskStatus::waiting_input));
}
void TaskRules::operator()(const TaskBlocked& p) { moves(said(p.status, TaskStatus::blocked)); }
void TaskRules::operator()(const TaskPaused& p) { moves(said(p.status, TaskStatus::paused)); }
void TaskRules::operator()(const TaskCancelled& p) { ends(said(p.status, TaskStatus::cancelled)); }
void TaskRules::operator()(const TaskTimedOut& p) { ends(said(p.status, TaskStatus::timed_out)); }
void TaskRules::operator()(const TaskFailed& p) { ends(said(p.status, TaskStatus::failed)); }
void TaskRules::operator()(const TaskLost& p) { ends(said(p.status, TaskStatus::lost)); }
void TaskRules::operator()(const TaskCompleted& p) { ends(said(p.status, TaskStatus::completed)); }

void TaskRules::operator()(const TaskStarted& p) {
  Task* open = open_task();
  if (!open) return;
  nothing_new(*open, "task start");
  if (open->status == TaskStatus::running)
    hearing_.fail("task.order",
                  fmt::format("task {} starts a second time", hearing_.head().task_id));
  open->status = said(p.status, TaskStatus::running);
  open->started = true;
}

void TaskRules::operator()(const TaskUpdated& p) {
  Task* open = open_task();
  if (open && p.status) open->status = said(*p.status, open->status);
}

void TaskRules::operator()(const TaskProgress&) { open_task(); }

void TaskRules::operator()(const TaskResumed& p) {
  Task* open = open_task();
  if (!open) return;
  static constexpr TaskStatus kStopped[] = {
      TaskStatus::paused,           TaskStatus::blocked,
      TaskStatus::waiting_input,    TaskStatus::waiting_permission,
      TaskStatus::waiting_resource, TaskStatus::stale,
      TaskStatus::unknown};
  if (std::ranges::find(kStopped, open->status) == std::end(kStopped) && !hearing_.partial)
    hearing_.fail("task.order", fmt::format("task {} resumes, but was {}", hearing_.head().task_id,
                                            name_of(open->status)));
  open->status = said(p.status, TaskStatus::running);
}

void TaskRules::operator()(const TaskRetrying& p) {
  Task* again = task();
  if (!again) return;
  if (is_final(again->status))
    return hearing_.fail("task.final", fmt::format("task {} is {}", hearing_.head().task_id,
                                                   name_of(again->status)));
  if (again->status == TaskStatus::retrying)
    hearing_.fail("task.order", fmt::format("task {} is retried while a retry is in progress",
                                            hearing_.head().task_id));
  nothing_new(*again, "task retry");
  again->status = said(p.status, TaskStatus::retrying);
  again->started = true;
  tasks_.reopen(hearing_.key(hearing_.head().task_id));
}

void TaskRules::operator()(const TaskCancelRequested& p) {
  Task* open = open_task();
  if (!open) return;
  open->cancelling = true;
  open->status = said(p.status, TaskStatus::cancelling);
}

void TaskRules::operator()(const TaskArchived& p) {
  Task* found = task();
  if (!found) return;
  if (found->status == TaskStatus::archived)
    hearing_.fail("task.final", fmt::format("task {} is archived", hearing_.head().task_id));
  found->status = said(p.status, TaskStatus::archived);
  tasks_.end(hearing_.key(hearing_.head().task_id));
}

void TaskRules::ends(TaskStatus to) {
  Task* open = open_task();
  if (!open) return;
  if (!open->attempt.empty())
    hearing_.fail("task.settled", fmt::format("task {} ends while attempt {} is open",
                                              hearing_.head().task_id, open->attempt));
  open->status = to;
  tasks_.end(hearing_.key(hearing_.head().task_id));
}

void TaskRules::nothing_new(const Task& task, std::string_view what) {
  if (task.cancelling)
    hearing_.fail("task.cancelling",
                  fmt::format("{} after the cancellation of the task was requested", what));
}

// A task that is created together with a turn ends with that turn.
void TaskRules::operator()(const TurnSubmitted&) {
  const Head& head = hearing_.head();
  pair();
  Task* made = head.task_id.empty() ? nullptr : tasks_.find(hearing_.key(head.task_id));
  if (made && made->turn != 0 && made->turn == hearing_.key(head.turn_id)) made->of_turn = true;
}

void TaskRules::operator()(const TurnStarted&) {
  const Head& head = hearing_.head();
  if (head.task_id.empty() || head.thread_id.empty()) return;
  std::string& last = last_task_.at(hearing_.key(head.thread_id));
  const Task* before = last.empty() ? nullptr : tasks_.find(hearing_.key(last));
  if (before && last != head.task_id && before->of_turn && !is_final(before->status) &&
      !is_retryable_end(before->status))
    hearing_.fail(
        "task.settled",
        fmt::format("the thread starts a turn while task {} of the previous turn is open", last));
  last = head.task_id;
}

// --- attempts ---

// One run corresponds to one attempt; the pairing never changes.
void TaskRules::pair() {
  const Head& head = hearing_.head();
  if (head.run_id.empty() || head.attempt_id.empty()) return;
  const Key run = hearing_.key(head.run_id), attempt = hearing_.key(head.attempt_id);
  Key& known_attempt = attempt_of_run_.at(run);
  Key& known_run = run_of_attempt_.at(attempt);
  if (known_attempt != 0 && known_attempt != attempt)
    hearing_.fail("attempt.pair", fmt::format("run {} belongs to another attempt than {}",
                                              head.run_id, head.attempt_id));
  else if (known_run != 0 && known_run != run)
    hearing_.fail("attempt.pair", fmt::format("attempt {} belongs to another run than {}",
                                              head.attempt_id, head.run_id));
  known_attempt = attempt;
  known_run = run;
}

void TaskRules::operator()(const TaskAttemptStarted& p) {
  const Head& head = hearing_.head();
  if (head.attempt_id.empty()) return;
  const Key key = hearing_.key(head.attempt_id);
  pair();
  if (ended(p.status) || p.status == Status::blocked)
    hearing_.fail("attempt.order",
                  fmt::format("an attempt starts with status {}", name_of(p.status)));
  if (attempts_.find(key))
    return hearing_.fail(
        "attempt.kept",
        fmt::format("attempt id {} is used again; a retry needs a new id", head.attempt_id));
  Task* of_attempt = open_task();
  if (!of_attempt) return;
  nothing_new(*of_attempt, "attempt start");
  if (!of_attempt->attempt.empty())
    hearing_.fail("attempt.order", fmt::format("attempt {} starts while {} is open",
                                               head.attempt_id, of_attempt->attempt));
  ++of_attempt->attempts;
  if (hearing_.has("attemptCount") && !hearing_.partial && p.attempt_count != of_attempt->attempts)
    hearing_.fail("attempt.order", fmt::format("attempt {} has attemptCount {}",
                                               of_attempt->attempts, p.attempt_count));
  of_attempt->attempt = head.attempt_id;
  attempts_.at(key);
}

void TaskRules::operator()(const TaskAttemptCompleted& p) {
  if (p.status != Status::completed)
    hearing_.fail("attempt.order",
                  fmt::format("an attempt completed with status {}", name_of(p.status)));
  attempt_ended(p.status);
}
void TaskRules::operator()(const TaskAttemptFailed& p) {
  if (!ended(p.status) || p.status == Status::completed)
    hearing_.fail("attempt.order",
                  fmt::format("an attempt failed with status {}", name_of(p.status)));
  attempt_ended(p.status);
}

void TaskRules::attempt_ended(Status status) {
  const Head& head = hearing_.head();
  if (head.attempt_id.empty()) return;
  pair();
  const Key key = hearing_.key(head.attempt_id);
  Attempt* attempt = attempts_.find(key);
  if (!attempt && hearing_.excuses(attempts_)) return;
  if (!attempt)
    return hearing_.fail("attempt.order",
                         fmt::format("attempt {} has not started", head.attempt_id));
  if (!attempt->open)
    return hearing_.fail("attempt.kept", fmt::format("attempt {} has ended, but has status {}",
                                                     head.attempt_id, name_of(status)));
  attempt->open = false;
  attempts_.end(key);
  attempt_of_run_.end(hearing_.key(head.run_id));
  run_of_attempt_.end(key);
  Task* of_attempt = tasks_.find(hearing_.key(head.task_id));
  if (!of_attempt) return;
  if (of_attempt->attempt == head.attempt_id) of_attempt->attempt.clear();
  if (!of_attempt->started && !hearing_.partial) {
    of_attempt->started = true;
    hearing_.fail("task.order",
                  fmt::format("an attempt ends, but task {} never started", head.task_id));
  }
}

// --- edges ---

void TaskRules::operator()(const TaskDelegated&) {
  if (const Task* open = open_task()) nothing_new(*open, "delegation");
}

bool TaskRules::reaches(Key from, Key to) const {
  std::vector<Key> ahead{from};
  std::unordered_set<Key> seen;
  while (!ahead.empty()) {
    const Key at = ahead.back();
    ahead.pop_back();
    if (at == to) return true;
    if (!seen.insert(at).second) continue;
    for (const Edge& edge : edges_)
      if (edge.from == at) ahead.push_back(edge.to);
  }
  return false;
}

void TaskRules::operator()(const TaskDependencyUpdated& p) {
  const std::string& id = hearing_.head().task_id;
  Key from = hearing_.key(id), to = hearing_.key(p.target_task_id.text());
  if (p.relationship == "blocks")
    std::swap(from, to);
  else if (p.relationship != "blocked_by")
    return;
  if (p.status == "removed") {
    std::erase_if(edges_, [&](const Edge& e) { return e.from == from && e.to == to; });
    return;
  }
  if (edges_.size() >= kEdgesMax) return;
  if (reaches(to, from))
    return hearing_.fail("task.cycle", fmt::format("tasks {} and {} depend on each other", id,
                                                   p.target_task_id.text()));
  edges_.push_back({from, to});
}

}  // namespace agentrt::validate
