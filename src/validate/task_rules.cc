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
bool is_retryable_end(TaskStatus status) { return retryable_end(status); }

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

void TaskRules::follows(const Task& task, TaskStatus to) {
  using enum TaskStatus;
  // A runtime that does not write every step may leave a waiting state for any other. What may
  // follow a request to cancel is the subject of task.cancelling: the task may end before it.
  const bool free = task.status == stale || task.status == unknown || task.status == accepted ||
                    task.status == queued || task.status == retrying || task.status == cancelling;
  if (task.status == to || free || hearing_.partial || may_move(task.status, to)) return;
  hearing_.fail("task.order", fmt::format("task {} passes from {} to {}", hearing_.head().task_id,
                                          name_of(task.status), name_of(to)));
}

void TaskRules::moves(TaskStatus to) {
  Task* open = open_task();
  if (!open) return;
  follows(*open, to);
  open->status = to;
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
  const TaskStatus to = said(p.status, TaskStatus::running);
  if (open->status != TaskStatus::running) follows(*open, to);
  open->status = to;
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
  follows(*open, TaskStatus::cancelling);
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
  follows(*open, to);
  open->status = to;
  tasks_.end(hearing_.key(hearing_.head().task_id));
}

void TaskRules::nothing_new(const Task& task, std::string_view what) {
  constexpr int kLevelsMax = 256;
  const Task* above = &task;
  for (int level = 0; above && level < kLevelsMax; ++level) {
    if (above->cancelling && above->status != TaskStatus::completed)
      return hearing_.fail("task.cancelling",
                           fmt::format("{} after the cancellation of the task{} was requested",
                                       what, level == 0 ? "" : " above it"));
    above = above->parent == 0 ? nullptr : tasks_.find(above->parent);
  }
}

// A task that is created together with a turn ends with that turn. One that is to be cancelled may
// still wait for its children.
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
  if (before && last != head.task_id && before->of_turn && !before->cancelling &&
      !is_final(before->status) && !is_retryable_end(before->status))
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
  if (!of_attempt->waits_for.empty() && !hearing_.partial)
    hearing_.fail(
        "task.order",
        fmt::format("an attempt of task {} starts before the tasks that it waits for have "
                    "completed",
                    head.task_id));
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
    const auto edges = edges_.find(at);
    if (edges != edges_.end())
      ahead.insert(ahead.end(), edges->second.begin(), edges->second.end());
  }
  return false;
}

void TaskRules::remove_edge(Key from, Key to) {
  const auto edges = edges_.find(from);
  if (edges == edges_.end()) return;
  edge_count_ -= std::erase(edges->second, to);
  if (edges->second.empty()) edges_.erase(edges);
}

// `from` waits for `to`: a task for those that it is blocked by, and a parent for its children.
void TaskRules::operator()(const TaskDependencyUpdated& p) {
  const std::string& id = hearing_.head().task_id;
  const std::string target = p.target_id        ? *p.target_id
                             : p.target_task_id ? p.target_task_id->text()
                                                : std::string();
  Key from = hearing_.key(id), to = hearing_.key(target);
  const bool blocks = p.relationship == "blocks" || p.relationship == "blocked_by";
  const bool parent = p.relationship == "parent" || p.relationship == "child";
  if (p.relationship == "blocks" || p.relationship == "parent") std::swap(from, to);
  if (!blocks && !parent) return;
  const bool active = p.status.value_or("active") == "active";
  if (Task* waiting = tasks_.find(from); waiting && blocks) {
    std::erase(waiting->waits_for, to);
    if (p.status == "satisfied" && !hearing_.partial)
      if (const Task* done = tasks_.find(to);
          done && done->status != TaskStatus::completed && done->status != TaskStatus::archived)
        hearing_.fail("task.order", fmt::format("a dependency on {} is satisfied, but it is {}",
                                                target, name_of(done->status)));
    if (active && p.target_id) waiting->waits_for.push_back(to);
  }
  if (Task* child = tasks_.find(to); child && parent) {
    child->parent = active ? from : 0;
    if (const Task* above = active ? tasks_.find(from) : nullptr)
      nothing_new(*above, "a new child");
  }
  if (!active) return remove_edge(from, to);
  if (edge_count_ >= kEdgesMax) return;
  if (reaches(to, from))
    return hearing_.fail("task.cycle",
                         fmt::format("tasks {} and {} depend on each other", id, target));
  edges_[from].push_back(to);
  ++edge_count_;
}

}  // namespace agentrt::validate
