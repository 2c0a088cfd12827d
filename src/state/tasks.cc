#include "state/tasks.h"

#include <algorithm>
#include <utility>

namespace agentrt::state {

using namespace schema;

namespace {

constexpr std::string_view kParent = "parent";
constexpr std::string_view kBlockedBy = "blocked_by";
constexpr std::string_view kSpawnedSubagent = "spawned_subagent";

// The record of a task's row before version 3 of the store: it was made from one turn.
struct OldAttempt {
  RunId run_id;
  AttemptId attempt_id;
  Status native_status = Status::accepted;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<Failure> last_error;
};
BOOST_DESCRIBE_STRUCT(OldAttempt, (),
                      (run_id, attempt_id, native_status, started_at, ended_at, last_error))
struct OldTask {
  TaskId task_id;
  ThreadId thread_id;
  TurnId turn_id;
  std::string objective;
  std::string task_kind;
  Visibility visibility = Visibility::internal;
  TaskStatus status = TaskStatus::accepted;
  std::optional<std::string> status_reason;
  std::vector<OldAttempt> attempts;
  Timestamp created_at;
  std::optional<Timestamp> ended_at;
};
BOOST_DESCRIBE_STRUCT(OldTask, (),
                      (task_id, thread_id, turn_id, objective, task_kind, visibility, status,
                       status_reason, attempts, created_at, ended_at))

Task from_old(const OldTask& old) {
  Task task;
  task.task_id = old.task_id;
  task.turn_id = old.turn_id;
  task.objective = old.objective;
  task.task_kind = old.task_kind;
  task.visibility = old.visibility;
  task.status = old.status;
  task.status_reason = old.status_reason;
  task.created_at = task.updated_at = old.created_at;
  task.ended_at = old.ended_at;
  for (const OldAttempt& each : old.attempts) {
    TaskAttempt attempt;
    attempt.run_id = each.run_id;
    attempt.attempt_id = each.attempt_id;
    attempt.status = each.native_status;
    attempt.attempt_count = ++task.attempts_made;
    attempt.worker = {WorkerKind::turn, old.thread_id, {}, {}};
    attempt.turn_id = old.turn_id;
    attempt.started_at = each.started_at;
    attempt.ended_at = each.ended_at;
    attempt.last_error = each.last_error;
    if (!attempt.ended_at) task.current_run_id = attempt.run_id;
    task.attempts.push_back(std::move(attempt));
  }
  return task;
}

// A term is one line; names of assignees and kinds are free text.
std::string term(std::string_view list, std::string_view of) {
  std::string out{list};
  for (const char c : of) out += static_cast<unsigned char>(c) < 0x20 ? '_' : c;
  return out;
}

template <class T>
void add_all(std::optional<std::vector<T>>& to, const std::optional<std::vector<T>>& more) {
  if (!more || more->empty()) return;
  if (!to) to.emplace();
  for (const T& each : *more)
    if (std::ranges::find(*to, each) == to->end()) to->push_back(each);
  if (to->size() > kTaskRefsKept)
    to->erase(to->begin(), to->end() - static_cast<std::ptrdiff_t>(kTaskRefsKept));
}

template <class T>
void take(std::optional<T>& to, const std::optional<T>& from) {
  if (from) to = from;
}

TaskTimer timer(Timestamp from, std::int64_t ms) { return {from + ms, ms, from}; }

}  // namespace

const TaskAttempt* open_attempt(const Task& task) {
  if (!task.current_run_id) return nullptr;
  for (auto at = task.attempts.rbegin(); at != task.attempts.rend(); ++at)
    if (at->run_id == *task.current_run_id) return &*at;
  return nullptr;
}

std::vector<TaskId> blockers_of(const Task& task) {
  std::vector<TaskId> out;
  for (const TaskEdge& edge : task.edges)
    if (edge.relationship == kBlockedBy && edge.status == EdgeStatus::active)
      out.emplace_back(edge.target_id);
  return out;
}

bool is_free(const Task& task) {
  return (task.status == TaskStatus::accepted || task.status == TaskStatus::queued) &&
         !task.thread_id && !task.current_run_id && task.task_kind != "turn" &&
         (!task.next_worker || task.next_worker->kind == WorkerKind::external) &&
         blockers_of(task).empty();
}

bool is_idle(const Task& task) {
  return !ended(task.status) && task.status != TaskStatus::cancelling && !task.current_run_id;
}

std::int64_t heartbeat_of(const Task& task) {
  const TaskAttempt* attempt = open_attempt(task);
  if (!attempt) return 0;
  if (task.constraints && task.constraints->heartbeat_ms) return *task.constraints->heartbeat_ms;
  return attempt->worker.kind == WorkerKind::external ? kHeartbeatMs : 0;
}

// Whether the completed turn of the task left it blocked only because children were open.
static bool lacked_children(const Task& task) {
  const auto of_children = [](const auto& each) { return each.kind == AcceptanceKind::children; };
  return task.status_reason == "acceptance" && task.missing && task.missing->size() == 1 &&
         of_children(task.missing->front()) &&
         (!task.acceptance || std::ranges::none_of(*task.acceptance, of_children));
}

bool continues(const Task& task) {
  if (task.status == TaskStatus::completed) return task.dependants > 0;
  if (task.status == TaskStatus::cancelling) {
    // Without propagation, children that have not started are cancelled.
    if (task.children_open > task.children_cancelling) return true;
    return task.children_open == 0 && !task.current_run_id;
  }
  if (task.status == TaskStatus::blocked) return task.children_open == 0 && lacked_children(task);
  return task.status == TaskStatus::queued && task.status_reason == "dependency" &&
         task.next_worker && task.next_worker->kind != WorkerKind::external &&
         blockers_of(task).empty();
}

std::optional<Timestamp> due_of(const Task& task) {
  std::optional<Timestamp> due;
  for (const std::optional<TaskTimer>* each :
       {&task.deadline, &task.timeout, &task.retry, &task.grace})
    if (*each && (!due || (*each)->at < *due)) due = (*each)->at;
  return due;
}

std::vector<std::string> terms_of(const Task& task) {
  std::vector<std::string> out;
  if (task.visibility != Visibility::internal) {
    out.emplace_back("shown");
    out.push_back(term("status=", name_of(task.status)));
    out.push_back(term("kind=", task.task_kind));
    if (task.assignee) out.push_back(term("assignee=", *task.assignee));
    const TaskAttempt* newest = task.attempts.empty() ? nullptr : &task.attempts.back();
    if (task.thread_id)
      out.push_back(term("thread=", task.thread_id->text()));
    else if (newest && newest->worker.thread_id)
      out.push_back(term("thread=", newest->worker.thread_id->text()));
  }
  if (task.parent_task_id) {
    out.push_back(term("parent=", task.parent_task_id->text()));
    if (!ended(task.status) && task.status != TaskStatus::cancelling)
      out.push_back(term("live=", task.parent_task_id->text()));
    if (is_idle(task)) out.push_back(term("idle=", task.parent_task_id->text()));
  }
  for (const TaskId& blocker : blockers_of(task)) out.push_back(term("waits=", blocker.text()));
  if (is_free(task)) {
    const std::string free = task.assignee ? term("free@", *task.assignee) : std::string("free");
    out.push_back(free);
    out.push_back(term(free + ":", task.task_kind));
  }
  if (heartbeat_of(task) > 0) out.emplace_back("beats");
  return out;
}

std::string encode(const Task& task) { return to_json(task); }

Result<Task> decode_task(std::string_view record) {
  Task task;
  if (from_json(record, task, Unknown::ignore) && task.first > 0) return task;
  OldTask old;
  TRY(from_json(record, old, Unknown::ignore));
  return from_old(old);
}

const Task* Tasks::find(const TaskId& id) const {
  const auto found = records_.find(id);
  return found == records_.end() ? nullptr : &found->second;
}

void Tasks::put(Task task) {
  TaskId id = task.task_id;
  records_.insert_or_assign(std::move(id), std::move(task));
}

// Applies one fact.
class TaskFolder {
 public:
  TaskFolder(Tasks& tasks, const Fact& fact, TaskChanges& changes)
      : tasks_(tasks.records_), fact_(fact), task_(find(fact.ids.task_id)), changes_(changes) {}

  void operator()(const TaskCreated& p) {
    if (task_ || fact_.ids.task_id.empty()) return;
    Task& made = tasks_[fact_.ids.task_id];
    made.task_id = fact_.ids.task_id;
    made.first = fact_.sequence;
    made.thread_id = p.thread_id;
    made.objective = p.objective;
    made.task_kind = p.task_kind;
    made.visibility = p.visibility;
    made.status = p.status;
    made.title = p.title;
    made.task_family = p.task_family;
    made.priority = p.priority;
    made.requested_by = p.requested_by;
    made.owner = p.owner;
    made.assignee = p.assignee;
    made.scope = p.scope;
    made.constraints = p.constraints;
    made.task_profile = p.task_profile;
    made.acceptance = p.acceptance;
    made.retry_policy = p.retry_policy;
    made.delivery_state = p.delivery_state;
    made.params_hash = p.params_hash;
    made.created_blocked = p.blocked;
    made.created_at = fact_.at;
    if (!fact_.ids.turn_id.empty()) made.turn_id = fact_.ids.turn_id;
    task_ = &made;
    set_deadline(made.created_at);
    changed();
  }
  void operator()(const TaskStarted& p) {
    if (!task_) return;
    if (!task_->started_at) task_->started_at = fact_.at;
    move_to(p.status, {});
  }
  void operator()(const TaskBlocked& p) {
    if (!task_) return;
    task_->missing = p.missing;
    move_to(p.status, p.reason);
  }
  void operator()(const TaskWaiting& p) { move_to(p.status, p.reason); }
  void operator()(const TaskPaused& p) {
    if (!task_) return;
    if (task_->timeout)
      task_->timeout_left_ms = std::max<std::int64_t>(0, task_->timeout->at - fact_.at);
    task_->timeout.reset();
    move_to(p.status, p.reason);
  }
  void operator()(const TaskResumed& p) {
    if (!task_) return;
    if (task_->timeout_left_ms) task_->timeout = timer(fact_.at, *task_->timeout_left_ms);
    task_->timeout_left_ms.reset();
    move_to(p.status, {});
  }
  void operator()(const TaskAccepted& p) { move_to(p.status, {}); }
  void operator()(const TaskQueued& p) {
    if (!task_) return;
    task_->next_worker = p.worker;
    task_->retry.reset();
    move_to(p.status, p.reason);
  }
  void operator()(const TaskProgress& p) {
    if (!task_) return;
    if (p.phase || p.step || p.counters || p.validation) {
      if (!task_->progress) task_->progress.emplace();
      take(task_->progress->phase, p.phase);
      take(task_->progress->step, p.step);
      take(task_->progress->counters, p.counters);
      take(task_->progress->validation, p.validation);
    }
    add_all(task_->output_refs, p.output_refs);
    take(task_->delivery_state, p.delivery_state);
    changed();
  }
  void operator()(const TaskUpdated& p) {
    if (!task_) return;
    if (p.objective) task_->objective = *p.objective;
    if (p.visibility) task_->visibility = *p.visibility;
    if (p.task_kind) task_->task_kind = *p.task_kind;
    take(task_->title, p.title);
    take(task_->task_family, p.task_family);
    take(task_->thread_id, p.thread_id);
    take(task_->priority, p.priority);
    take(task_->requested_by, p.requested_by);
    take(task_->owner, p.owner);
    take(task_->assignee, p.assignee);
    take(task_->scope, p.scope);
    take(task_->task_profile, p.task_profile);
    take(task_->acceptance, p.acceptance);
    take(task_->retry_policy, p.retry_policy);
    take(task_->delivery_state, p.delivery_state);
    if (p.constraints) {
      const bool moved =
          !task_->constraints || task_->constraints->deadline_ms != p.constraints->deadline_ms;
      task_->constraints = p.constraints;
      if (moved) set_deadline(task_->created_at);
    }
    changed();
  }
  void operator()(const TaskRetrying& p) {
    if (!task_) return;
    task_->ended_at.reset();
    task_->next_worker = p.worker;
    task_->missing.reset();
    take(task_->last_error, p.error);
    if (p.retry_at) task_->retry = TaskTimer{*p.retry_at, p.retry_in_ms.value_or(0), fact_.at};
    if (ended(task_->status)) set_deadline(fact_.at);
    move_to(p.status, p.reason);
  }
  void operator()(const TaskCancelRequested& p) {
    if (!task_) return;
    task_->propagates = p.propagate.value_or(true);
    task_->next_worker.reset();
    task_->retry.reset();
    task_->deadline.reset();
    task_->timeout.reset();
    const TaskAttempt* attempt = open_attempt(*task_);
    if (attempt && attempt->worker.kind == WorkerKind::external) {
      std::int64_t grace = kCancelGraceMs;
      if (task_->constraints && task_->constraints->cancel_grace_ms)
        grace = *task_->constraints->cancel_grace_ms;
      task_->grace = timer(fact_.at, grace);
    }
    move_to(p.status, p.reason);
  }
  void operator()(const TaskCancelled& p) { end(p.status, p.reason); }
  void operator()(const TaskFailed& p) {
    if (!task_) return;
    task_->last_error = p.error;
    end(p.status, p.error.message);
  }
  void operator()(const TaskTimedOut& p) { end(p.status, p.reason); }
  void operator()(const TaskLost& p) { end(p.status, p.reason); }
  void operator()(const TaskCompleted& p) {
    if (!task_) return;
    add_all(task_->output_refs, p.output_refs);
    add_all(task_->artifacts, p.artifacts);
    add_all(task_->evidence_refs, p.evidence_refs);
    add_all(task_->satisfied, p.satisfied);
    take(task_->delivery_state, p.delivery_state);
    if (p.summary && !task_->attempts.empty())
      task_->attempts.back().completion_summary = p.summary;
    task_->missing.reset();
    end(p.status, {});
  }
  void operator()(const TaskArchived& p) { move_to(p.status, p.reason); }
  // The edge to the subagent. A task that has many edges gets no more by itself.
  void operator()(const TaskDelegated& p) {
    if (!task_ || !p.subagent_id) return;
    const auto known = [&](const TaskEdge& edge) {
      return edge.relationship == kSpawnedSubagent && edge.target_id == p.subagent_id->text();
    };
    if (std::ranges::any_of(task_->edges, known) || task_->edges.size() >= kDelegationEdgesMax)
      return;
    task_->edges.push_back({std::string(kSpawnedSubagent),
                            p.subagent_id->text(),
                            {},
                            EdgeStatus::active,
                            {},
                            fact_.at,
                            fact_.at});
    changed();
  }
  void operator()(const TaskDependencyUpdated& p) {
    const std::optional<std::string> target = p.target_id ? p.target_id
                                              : p.target_task_id
                                                  ? std::optional(p.target_task_id->text())
                                                  : std::nullopt;
    if (!task_ || !target) return;
    const EdgeStatus status =
        enum_of<EdgeStatus>(p.status.value_or("active")).value_or(EdgeStatus::active);
    const auto same = [&](const TaskEdge& edge) {
      return edge.relationship == p.relationship && edge.target_id == *target;
    };
    const auto at = std::ranges::find_if(task_->edges, same);
    const bool was = at != task_->edges.end() && at->status == EdgeStatus::active;
    if (status == EdgeStatus::removed) {
      if (at != task_->edges.end()) task_->edges.erase(at);
    } else if (at != task_->edges.end()) {
      at->status = status;
      at->updated_at = fact_.at;
      take(at->reason, p.reason);
    } else {
      task_->edges.push_back(
          {p.relationship, *target, p.name, status, p.reason, fact_.at, fact_.at});
    }
    changed();
    if (const bool is = status == EdgeStatus::active; is != was)
      edge_changed(p.relationship, *target, is);
  }
  void operator()(const TaskAttemptStarted& p) {
    if (!task_) return;
    TaskAttempt attempt;
    attempt.run_id = fact_.ids.run_id;
    attempt.attempt_id = fact_.ids.attempt_id;
    attempt.status = p.status;
    attempt.attempt_count = p.attempt_count;
    if (p.worker)
      attempt.worker = *p.worker;
    else
      attempt.worker = {WorkerKind::turn, fact_.ids.thread_id, {}, {}};
    if (!fact_.ids.turn_id.empty()) attempt.turn_id = task_->turn_id = fact_.ids.turn_id;
    attempt.started_at = fact_.at;
    attempt.first = fact_.sequence;
    task_->current_run_id = attempt.run_id;
    ++task_->attempts_made;
    task_->attempts.push_back(std::move(attempt));
    if (task_->attempts.size() > kAttemptsKept) {
      changes_.set_aside.emplace_back(task_->task_id, std::move(task_->attempts.front()));
      task_->attempts.erase(task_->attempts.begin());
    }
    task_->next_worker.reset();
    task_->retry.reset();
    task_->missing.reset();
    task_->timeout_left_ms.reset();
    if (task_->constraints && task_->constraints->timeout_ms)
      task_->timeout = timer(fact_.at, *task_->constraints->timeout_ms);
    changed();
  }
  void operator()(const TaskAttemptCompleted& p) {
    if (TaskAttempt* attempt = end_attempt(p.status)) {
      attempt->completion_summary = p.summary;
      attempt->output_refs = p.output_refs;
    }
  }
  void operator()(const TaskAttemptFailed& p) {
    if (TaskAttempt* attempt = end_attempt(p.status)) {
      attempt->last_error = p.error;
      task_->last_error = p.error;
    }
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  Task* find(const TaskId& id) {
    if (id.empty()) return nullptr;
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? nullptr : &found->second;
  }
  void changed() { changed(*task_); }
  void changed(Task& task) {
    task.updated_at = fact_.at;
    changes_.tasks.insert(task.task_id);
  }
  void set_deadline(Timestamp from) {
    task_->deadline.reset();
    if (task_->constraints && task_->constraints->deadline_ms)
      task_->deadline = timer(from, *task_->constraints->deadline_ms);
  }
  void move_to(TaskStatus to, std::optional<std::string> reason) {
    if (!task_) return;
    const TaskStatus from = std::exchange(task_->status, to);
    task_->status_reason = std::move(reason);
    changed();
    if (Task* parent = task_->parent_task_id ? find(*task_->parent_task_id) : nullptr)
      count_child(*parent, from, to);
  }
  void end(TaskStatus to, std::optional<std::string> reason) {
    if (!task_) return;
    task_->ended_at = fact_.at;
    task_->deadline.reset();
    task_->timeout.reset();
    task_->retry.reset();
    task_->grace.reset();
    task_->next_worker.reset();
    move_to(to, std::move(reason));
  }
  static void step(std::uint64_t& count, bool before, bool after) {
    if (before && !after && count > 0) --count;
    if (!before && after) ++count;
  }
  void count_child(Task& parent, std::optional<TaskStatus> from, std::optional<TaskStatus> to) {
    const auto open = [](const auto& status) { return status && !ended(*status); };
    const auto cancels = [](const auto& status) { return status == TaskStatus::cancelling; };
    const auto done = [](const auto& status) {
      return status == TaskStatus::completed || status == TaskStatus::archived;
    };
    step(parent.children, from.has_value(), to.has_value());
    step(parent.children_open, open(from), open(to));
    step(parent.children_cancelling, cancels(from), cancels(to));
    // An archived child keeps the outcome that it had.
    if (to != TaskStatus::archived && from != TaskStatus::archived)
      step(parent.children_completed, done(from), done(to));
    changed(parent);
  }
  void edge_changed(std::string_view relationship, const std::string& target_id, bool added) {
    Task* target = find(TaskId{target_id});
    if (relationship == kParent) {
      if (added)
        task_->parent_task_id = TaskId{target_id};
      else
        task_->parent_task_id.reset();
      if (target)
        count_child(*target, added ? std::nullopt : std::optional(task_->status),
                    added ? std::optional(task_->status) : std::nullopt);
    } else if (relationship == kBlockedBy && target) {
      step(target->dependants, !added, added);
      changed(*target);
    }
  }
  TaskAttempt* end_attempt(Status status) {
    if (!task_) return nullptr;
    for (auto at = task_->attempts.rbegin(); at != task_->attempts.rend(); ++at) {
      if (at->attempt_id != fact_.ids.attempt_id) continue;
      at->status = status;
      at->ended_at = fact_.at;
      if (task_->current_run_id == at->run_id) task_->current_run_id.reset();
      task_->timeout.reset();
      task_->timeout_left_ms.reset();
      task_->grace.reset();
      changed();
      return &*at;
    }
    return nullptr;
  }

  std::map<TaskId, Task>& tasks_;
  const Fact& fact_;
  Task* task_;
  TaskChanges& changes_;
};

void fold_tasks(Tasks& tasks, const Fact& fact, TaskChanges& changes) {
  if (fact.ids.task_id.empty()) return;
  TaskFolder folder{tasks, fact, changes};
  std::visit([&](const auto& payload) { folder(payload); }, fact.payload);
}

}  // namespace agentrt::state
