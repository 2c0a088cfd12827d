// control/tasks/records.cc: decides the creation of tasks, changes of their records, and edges.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/tasks/task_facts.h"

namespace agentrt::control {

using namespace schema;
using state::Task;

namespace {

Error wrong(std::string_view member, std::string_view expected) {
  return {Code::invalid_params, fmt::format("{}: expected {}", member, expected), {}};
}

std::optional<Error> wrong_times(const TaskConstraints& given) {
  const std::pair<const std::optional<std::int64_t>*, std::string_view> positive[] = {
      {&given.timeout_ms, "constraints.timeoutMs"}, {&given.deadline_ms, "constraints.deadlineMs"}};
  for (const auto& [value, member] : positive)
    if (*value && (**value < 1 || **value > kTaskTimeMaxMs))
      return wrong(member, fmt::format("1 to {}", kTaskTimeMaxMs));
  const std::pair<const std::optional<std::int64_t>*, std::string_view> any[] = {
      {&given.heartbeat_ms, "constraints.heartbeatMs"},
      {&given.cancel_grace_ms, "constraints.cancelGraceMs"}};
  for (const auto& [value, member] : any)
    if (*value && (**value < 0 || **value > kTaskTimeMaxMs))
      return wrong(member, fmt::format("0 to {}", kTaskTimeMaxMs));
  return std::nullopt;
}

std::optional<Error> wrong_acceptance(const std::vector<Acceptance>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool needs_name = given[i].kind == AcceptanceKind::artifact ||
                            given[i].kind == AcceptanceKind::evidence ||
                            given[i].kind == AcceptanceKind::statement;
    if (needs_name && given[i].name.value_or("").empty())
      return wrong(fmt::format("acceptance[{}].name", i),
                   fmt::format("the name of the {}", name_of(given[i].kind)));
  }
  return std::nullopt;
}

// Checks the members that create_task and update_task share.
template <class C>
std::optional<Error> wrong_members(const C& command, const Inputs& inputs) {
  if (command.constraints)
    if (auto error = wrong_times(*command.constraints)) return error;
  if (command.retry_policy)
    if (auto error = wrong_retry_policy(*command.retry_policy)) return error;
  if (command.acceptance)
    if (auto error = wrong_acceptance(*command.acceptance)) return error;
  for (const auto& [json, member] :
       {std::pair{command.scope, "scope"}, std::pair{command.task_profile, "taskProfile"}})
    if (json && !json->text.starts_with('{')) return wrong(member, "an object");
  if (command.task_kind == "turn")
    return wrong("taskKind", "another word: `turn` marks the tasks that the runtime creates");
  if (command.constraints) {
    const auto among = [](const auto& list, const auto& value) {
      return value && std::ranges::find(list, *value) != list.end();
    };
    if (among(inputs.settings->modes_forbidden, command.constraints->mode))
      return Error{Code::forbidden,
                   fmt::format("the managed configuration does not allow the mode {}",
                               name_of(*command.constraints->mode)),
                   {}};
    if (among(inputs.settings->sandboxes_forbidden, command.constraints->sandbox))
      return Error{Code::forbidden,
                   fmt::format("the managed configuration does not allow the sandbox mode {}",
                               name_of(*command.constraints->sandbox)),
                   {}};
  }
  return needs_approver(command.constraints, inputs);
}

TaskReply reply_of(const Session& view, const TaskId& task, TaskStatus status) {
  return {.session_id = view.id,
          .task_id = task,
          .status = status,
          .retry_at = std::nullopt,
          .sequence = view.sequence};
}

std::optional<Error> wrong_parent(const Task& parent, const Inputs& inputs) {
  if (auto error = beneath_cancelled(&parent, inputs)) return error;
  if (parent.status == TaskStatus::completed || parent.status == TaskStatus::archived)
    return wrong_state(parent, "given another child");
  if (depth_of(&parent, inputs) >= inputs.settings->task_depth_max)
    return Error{Code::limit_exceeded,
                 fmt::format("child tasks are at most {} levels deep (limits.task_depth_max)",
                             inputs.settings->task_depth_max),
                 fmt::format(R"({{"limit":"limits.task_depth_max","max":{}}})",
                             inputs.settings->task_depth_max)};
  return std::nullopt;
}

std::optional<Error> in_cycle(const Inputs& inputs) {
  if (inputs.named.walk_cut)
    return Error{Code::limit_exceeded,
                 fmt::format("more than {} tasks depend on each other: the edge cannot be checked "
                             "for cycles",
                             kTaskWalkMax),
                 {}};
  if (inputs.named.cycle.empty()) return std::nullopt;
  return Error{Code::conflict,
               "the tasks would wait for each other: " + some_of(inputs.named.cycle),
               fmt::format(R"({{"path":{}}})", to_json(inputs.named.cycle))};
}

TaskDependencyUpdated edge(EdgeKind kind, std::string target, EdgeStatus status) {
  return {.relationship = std::string(name_of(kind)),
          .target_id = std::move(target),
          .status = std::string(name_of(status))};
}

// Adds the edges to the tasks that block the new one.
void add_blockers(Facts& facts, const TaskScope& scope, const std::vector<const Task*>& blockers) {
  for (const Task* blocker : blockers) {
    const bool done = blocker->status == TaskStatus::completed;
    facts.add(scope, edge(EdgeKind::blocked_by, blocker->task_id.text(),
                          done ? EdgeStatus::satisfied : EdgeStatus::active));
  }
}

Error too_many_edges(const Inputs& inputs) {
  return {Code::limit_exceeded,
          fmt::format("a task has at most {} edges (limits.task_edges_max)",
                      inputs.settings->task_edges_max),
          fmt::format(R"({{"limit":"limits.task_edges_max","max":{}}})",
                      inputs.settings->task_edges_max)};
}

// The reply to the first of these commands, which its params and the record determine.
Decided repeated_task(const Session& view, const CreateTask& command, const Task& known,
                      const Inputs& inputs) {
  if (known.params_hash != inputs.params_hash)
    return refuse(Code::idempotency_conflict,
                  fmt::format("task {} already exists and was created with other params",
                              known.task_id.text()));
  const bool blocked = known.created_blocked.value_or(false);
  const bool draft = command.draft.value_or(false);
  const auto named = command.blocked_by.value_or(std::vector<TaskId>{});
  TaskReply reply = reply_of(view, known.task_id,
                             draft     ? TaskStatus::draft
                             : blocked ? TaskStatus::blocked
                                       : TaskStatus::accepted);
  reply.sequence = known.first + (command.parent_task_id ? 1 : 0) +
                   std::set<TaskId>(named.begin(), named.end()).size() +
                   (blocked && !draft ? 1 : 0);
  return Unchanged{to_json(reply)};
}

Result<std::vector<const Task*>> blockers_named(const Session& view, const CreateTask& command,
                                                const Inputs& inputs) {
  std::vector<const Task*> out;
  std::set<TaskId> seen;
  for (const TaskId& id : command.blocked_by.value_or(std::vector<TaskId>{})) {
    if (!seen.insert(id).second) continue;
    TRY_ASSIGN(const Task* blocker, named_task(view, id, inputs));
    out.push_back(blocker);
  }
  return out;
}

}  // namespace

Decided create_task(const Session& view, const CreateTask& command, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found,
                  fmt::format("there is no session {}: create it with create_session or "
                              "submit_turn",
                              inputs.session.text()));
  if (command.task_id) {
    if (inputs.named.foreign_tasks.contains(*command.task_id))
      return refuse(
          Code::idempotency_conflict,
          fmt::format("task {} already exists in another session", command.task_id->text()));
    if (const Task* known = task_of(inputs, *command.task_id))
      return repeated_task(view, command, *known, inputs);
  }
  if (command.objective.empty()) return wrong("objective", "a text");
  if (auto error = wrong_members(command, inputs)) return *error;
  const Task* parent = nullptr;
  if (command.parent_task_id) {
    auto found = named_task(view, *command.parent_task_id, inputs);
    if (!found) return std::move(found).error();
    parent = *found;
    if (auto error = wrong_parent(*parent, inputs)) return *error;
  }
  auto blockers = blockers_named(view, command, inputs);
  if (!blockers) return std::move(blockers).error();
  if (blockers->size() + (parent ? 1 : 0) > inputs.settings->task_edges_max)
    return too_many_edges(inputs);
  if (auto error = in_cycle(inputs)) return *error;
  if (view.tasks.active >= inputs.settings->tasks_open_max)
    return refuse(
        Code::limit_exceeded,
        fmt::format("the session has {} tasks that have not ended (limits.tasks_max): "
                    "complete or cancel some",
                    view.tasks.active),
        fmt::format(R"({{"limit":"limits.tasks_max","max":{}}})", inputs.settings->tasks_open_max));
  const TaskId id = command.task_id ? *command.task_id : inputs.ids.next<TaskId>();
  const bool draft = command.draft.value_or(false);
  const TaskScope scope{inputs.session, id};
  TaskCreated created{.visibility = command.visibility.value_or(Visibility::foreground),
                      .status = draft ? TaskStatus::draft : TaskStatus::accepted,
                      .objective = command.objective,
                      .task_kind = command.task_kind.value_or("task")};
  created.title = command.title;
  created.task_family = command.task_family;
  created.thread_id = command.thread_id;
  created.priority = command.priority;
  created.requested_by = command.requested_by;
  created.owner = command.owner;
  created.assignee = command.assignee;
  created.scope = command.scope;
  created.constraints = command.constraints;
  created.task_profile = command.task_profile;
  created.acceptance = command.acceptance;
  created.retry_policy = command.retry_policy;
  created.delivery_state = command.delivery_state;
  if (command.task_id) created.params_hash = inputs.params_hash;
  const bool waits = std::ranges::any_of(
      *blockers, [](const Task* blocker) { return blocker->status != TaskStatus::completed; });
  if (waits) created.blocked = true;
  Facts facts{view, inputs};
  facts.add(scope, std::move(created));
  if (parent) facts.add(scope, edge(EdgeKind::parent, parent->task_id.text(), EdgeStatus::active));
  add_blockers(facts, scope, *blockers);
  TaskStatus status = draft ? TaskStatus::draft : TaskStatus::accepted;
  if (waits && !draft) {
    status = TaskStatus::blocked;
    facts.add(scope, TaskBlocked{.reason = "dependency"});
  }
  return accept(facts, reply_of(view, id, status));
}

Decided update_task(const Session& view, const UpdateTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (auto error = wrong_members(command, inputs)) return *error;
  if (auto error = needs_approver(task.constraints, inputs)) return *error;
  if (command.objective && command.objective->empty()) return wrong("objective", "a text");
  if (ended(task.status)) return wrong_state(task, "changed");
  if (command.draft == true && task.status != TaskStatus::draft)
    return wrong_state(task, "made a draft again");
  TaskUpdated updated{.title = command.title,
                      .objective = command.objective,
                      .visibility = command.visibility,
                      .task_kind = command.task_kind,
                      .task_family = command.task_family,
                      .thread_id = command.thread_id,
                      .priority = command.priority,
                      .requested_by = command.requested_by,
                      .owner = command.owner,
                      .assignee = command.assignee,
                      .scope = command.scope,
                      .constraints = command.constraints,
                      .task_profile = command.task_profile,
                      .acceptance = command.acceptance,
                      .retry_policy = command.retry_policy,
                      .delivery_state = command.delivery_state};
  Facts facts{view, inputs};
  const TaskScope scope{inputs.session, task.task_id};
  if (updated != TaskUpdated{}) facts.add(scope, std::move(updated));
  TaskStatus status = task.status;
  if (command.draft == false && task.status == TaskStatus::draft) {
    facts.add(scope, TaskAccepted{});
    status = TaskStatus::accepted;
    if (!blockers_of(task).empty()) {
      facts.add(scope, TaskBlocked{.reason = "dependency"});
      status = TaskStatus::blocked;
    }
  }
  if (facts.empty()) return Unchanged{to_json(reply_of(view, task.task_id, status))};
  return accept(facts, reply_of(view, task.task_id, status));
}

Decided archive_task(const Session& view, const ArchiveTask& command, Inputs inputs) {
  auto found = named_task(view, command.task_id, inputs);
  if (!found) return std::move(found).error();
  const Task& task = **found;
  if (!may_move(task.status, TaskStatus::archived)) return wrong_state(task, "archived");
  Facts facts{view, inputs};
  facts.add(TaskScope{inputs.session, task.task_id}, TaskArchived{.reason = command.reason});
  return accept(facts, reply_of(view, task.task_id, TaskStatus::archived));
}

namespace {

// The edge as it is stored: on the task that waits, or that has the parent.
struct Stored {
  const Task* task;
  EdgeKind kind;
  std::string target;
  const Task* target_task = nullptr;  // null: the target is not a task
};

template <class C>
Result<Stored> stored_edge(const Session& view, const C& command, const Inputs& inputs) {
  TRY_ASSIGN(const Task* task, named_task(view, command.task_id, inputs));
  if (command.target_id.empty()) return std::unexpected(wrong("targetId", "an id"));
  Stored out{task, command.kind, command.target_id};
  switch (command.kind) {
    case EdgeKind::parent:
    case EdgeKind::child:
    case EdgeKind::blocks:
    case EdgeKind::blocked_by:
    case EdgeKind::source_task:
      break;
    default:
      return out;
  }
  TRY_ASSIGN(out.target_task, named_task(view, TaskId{command.target_id}, inputs));
  if (command.kind != EdgeKind::child && command.kind != EdgeKind::blocks) return out;
  std::swap(out.task, out.target_task);
  out.kind = command.kind == EdgeKind::child ? EdgeKind::parent : EdgeKind::blocked_by;
  out.target = command.task_id.text();
  return out;
}

const state::TaskEdge* find_edge(const Stored& stored) {
  for (const state::TaskEdge& each : stored.task->edges)
    if (each.relationship == name_of(stored.kind) && each.target_id == stored.target) return &each;
  return nullptr;
}

std::optional<Error> wrong_edge(const Stored& stored, const Inputs& inputs) {
  const Task& task = *stored.task;
  if (stored.target_task && stored.target_task->task_id == task.task_id)
    return Error{Code::conflict, "a task cannot depend on itself",
                 fmt::format(R"({{"path":{}}})", to_json(std::vector{task.task_id, task.task_id}))};
  if (ended(task.status)) return wrong_state(task, "linked");
  if (task.edges.size() >= inputs.settings->task_edges_max) return too_many_edges(inputs);
  if (stored.kind == EdgeKind::parent) {
    if (task.parent_task_id)
      return Error{Code::conflict,
                   fmt::format("task {} has the parent {}: unlink it first", task.task_id.text(),
                               task.parent_task_id->text()),
                   {}};
    if (auto error = wrong_parent(*stored.target_task, inputs)) return error;
  }
  return in_cycle(inputs);
}

}  // namespace

Decided link_tasks(const Session& view, const LinkTasks& command, Inputs inputs) {
  auto stored = stored_edge(view, command, inputs);
  if (!stored) return std::move(stored).error();
  const Task& task = *stored->task;
  const bool own = task.task_id == command.task_id;
  const TaskStatus named = own ? task.status : stored->target_task->status;
  if (find_edge(*stored)) return Unchanged{to_json(reply_of(view, command.task_id, named))};
  if (auto error = wrong_edge(*stored, inputs)) return *error;
  const bool blocks = stored->kind == EdgeKind::blocked_by;
  const bool done = blocks && stored->target_task->status == TaskStatus::completed;
  TaskDependencyUpdated updated =
      edge(stored->kind, stored->target, done ? EdgeStatus::satisfied : EdgeStatus::active);
  updated.name = command.name;
  updated.reason = command.reason;
  Facts facts{view, inputs};
  const TaskScope scope{inputs.session, task.task_id};
  facts.add(scope, std::move(updated));
  TaskStatus status = task.status;
  if (blocks && !done && task.status == TaskStatus::accepted) {
    facts.add(scope, TaskBlocked{.reason = "dependency"});
    status = TaskStatus::blocked;
  }
  return accept(facts, reply_of(view, command.task_id, own ? status : named));
}

Decided unlink_tasks(const Session& view, const UnlinkTasks& command, Inputs inputs) {
  auto stored = stored_edge(view, command, inputs);
  if (!stored) return std::move(stored).error();
  const Task& task = *stored->task;
  const bool own = task.task_id == command.task_id;
  const TaskStatus named = own ? task.status : stored->target_task->status;
  if (!find_edge(*stored)) return Unchanged{to_json(reply_of(view, command.task_id, named))};
  TaskDependencyUpdated updated = edge(stored->kind, stored->target, EdgeStatus::removed);
  updated.reason = command.reason;
  Facts facts{view, inputs};
  const TaskScope scope{inputs.session, task.task_id};
  facts.add(scope, std::move(updated));
  TaskStatus status = task.status;
  const std::vector<TaskId> blockers = blockers_of(task);
  if (task.status == TaskStatus::blocked && task.status_reason == "dependency" &&
      blockers.size() == 1 && blockers.front().text() == stored->target) {
    facts.add(scope, TaskAccepted{.reason = "dependency"});
    status = TaskStatus::accepted;
  }
  return accept(facts, reply_of(view, command.task_id, own ? status : named));
}

}  // namespace agentrt::control
