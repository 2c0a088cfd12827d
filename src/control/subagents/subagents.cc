// control/subagents/subagents.cc: the commands about subagents, and the delegation that they share
// with calls.
#include "control/subagents/subagents.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/judging.h"
#include "control/submit.h"
#include "control/tasks/task_facts.h"
#include "policy/laxity.h"
#include "policy/paths.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;
using state::Subagent;

namespace {

constexpr std::string_view kSource = "subagent";
constexpr std::size_t kInputPreviewMax = 160;

Error wider(std::string_view member, const std::string& wanted, const std::string& has) {
  return {
      Code::forbidden,
      fmt::format("{}: a subagent cannot have {}, because its parent has only {}", member, wanted,
                  has),
      fmt::format(R"({{"member":{},"parent":{}}})", to_json(std::string(member)), to_json(has))};
}

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

// A tool, write root or other member of the list that no policy of the chain may withhold.
std::optional<Error> wider_tools(const std::vector<std::string>& wanted,
                                 const policy::Effective& policy) {
  for (const policy::Effective* each = &policy; each; each = each->parent.get())
    for (const std::string& tool : each->tools ? wanted : std::vector<std::string>{})
      if (std::ranges::find(*each->tools, tool) == each->tools->end())
        return wider("tools", tool, joined(*each->tools));
  return std::nullopt;
}

std::optional<Error> wider_roots(const Session& view, std::vector<std::string>& wanted,
                                 const policy::Effective& policy) {
  std::vector<std::string> own{view.cwd};
  for (const std::string& root : view.additional_roots.value_or(std::vector<std::string>{}))
    own.push_back(root);
  const std::vector<std::string>& of_parent = policy.write_roots ? *policy.write_roots : own;
  for (std::string& root : wanted) {
    const std::string path = policy::normal_path(root, view.cwd, policy.home);
    if (std::ranges::none_of(of_parent, [&](const std::string& each) {
          return policy::is_within(path, policy::normal_path(each, "/", policy.home));
        }))
      return wider("writeRoots", path, joined(of_parent));
    root = path;
  }
  return std::nullopt;
}

std::optional<Error> wider_than(const Session& view, const policy::Effective& policy,
                                NewSubagent& wanted) {
  if (wanted.mode && !policy::at_most_as_lax(*wanted.mode, policy.mode))
    return wider("mode", std::string(name_of(*wanted.mode)), std::string(name_of(policy.mode)));
  if (wanted.sandbox && !policy::at_most_as_lax(*wanted.sandbox, policy.sandbox))
    return wider("sandbox", std::string(name_of(*wanted.sandbox)),
                 std::string(name_of(policy.sandbox)));
  if (wanted.tools)
    if (auto error = wider_tools(*wanted.tools, policy)) return error;
  if (wanted.write_roots)
    if (auto error = wider_roots(view, *wanted.write_roots, policy)) return error;
  return std::nullopt;
}

std::optional<Error> too_many_running(const Session& view, const Settings& settings) {
  const std::size_t running = state::running_subagents(view);
  if (running < settings.subagents_running_max) return std::nullopt;
  return Error{Code::limit_exceeded,
               fmt::format("{} subagents of this session are running, which is the limit "
                           "(limits.subagents_running): wait for one, or close one",
                           running),
               fmt::format(R"({{"limit":"limits.subagents_running","max":{}}})",
                           settings.subagents_running_max)};
}

std::optional<Error> too_deep(const Session& view, const Thread& parent, const Settings& settings) {
  if (state::depth_of(view, parent.id) < settings.subagent_depth_max) return std::nullopt;
  return Error{
      Code::limit_exceeded,
      fmt::format("a subagent here would be at depth {}, and the limit is {} "
                  "(limits.subagent_depth)",
                  state::depth_of(view, parent.id) + 1, settings.subagent_depth_max),
      fmt::format(R"({{"limit":"limits.subagent_depth","max":{}}})", settings.subagent_depth_max)};
}

// The scope of a subagent's facts: its parent's turn if one is open, otherwise the parent's thread.
SubagentScope scope_of(const Facts& facts, const Session& view, const ThreadId& parent,
                       const SubagentId& id) {
  const Thread* thread = find_thread(view, parent);
  if (thread && thread->active) return {facts.of(thread->active->ids), id};
  return {facts.of(parent), id};
}

const TurnOptions& options_now(const Thread& thread) {
  static const TurnOptions kNone;
  if (thread.active) return thread.active->options;
  return thread.last ? thread.last->options : kNone;
}

// The options of a subagent's turn: those of its parent where it has none of its own. Whether a
// person can be asked follows from the parent's running turn.
TurnOptions options_of(const Thread& parent, const NewSubagent& wanted, Delegator delegator) {
  TurnOptions above = options_now(parent);
  if (delegator == Delegator::client) {
    // Only the turn itself passes on what a person approved for it in advance.
    if (above.mode && !policy::at_most_as_lax(*above.mode, PermissionMode::default_))
      above.mode.reset();
    if (above.sandbox && !policy::at_most_as_lax(*above.sandbox, SandboxMode::workspace_write))
      above.sandbox.reset();
  }
  TurnOptions out;
  out.model = wanted.model ? wanted.model : above.model;
  out.mode = wanted.mode ? wanted.mode : above.mode;
  out.sandbox = wanted.sandbox ? wanted.sandbox : above.sandbox;
  out.tools = wanted.tools ? wanted.tools : above.tools;
  if (parent.active) {
    out.interactive = above.interactive;
    out.ask_timeout_ms = above.ask_timeout_ms;
    out.resume = above.resume;
  }
  return out;
}

std::string preview_of(const std::vector<InputPart>& input) {
  return std::string(utf8_prefix(objective_of(input), kInputPreviewMax));
}

// The caller of a delegation, in whose trace the subagent's turn continues.
struct Tracing {
  std::optional<TraceId> trace;
  std::optional<SpanId> parent;
  std::optional<bool> sampled;
};

// A turn delegates by its first call.
Tracing tracing_of(const Session& view, const ThreadId& parent, Delegator delegator,
                   const Inputs& inputs) {
  const Thread* thread = find_thread(view, parent);
  if (delegator == Delegator::turn && thread && thread->active && !thread->active->tools.empty())
    return {thread->active->ids.trace,
            span_of(view.id, kCallSpan, thread->active->tools.front().id.text()),
            thread->active->trace_sampled};
  if (!inputs.trace) return {};
  return {inputs.trace->trace, inputs.trace->parent, inputs.trace->sampled};
}

TurnIds fresh_turn(const ThreadId& thread, const Tracing& tracing, FreshIds& ids) {
  TurnIds turn;
  turn.thread = thread;
  turn.turn = ids.next<TurnId>();
  turn.task = ids.next<TaskId>();
  turn.run = ids.next<RunId>();
  turn.attempt = ids.next<AttemptId>();
  turn.trace = tracing.trace ? *tracing.trace : ids.next_trace();
  return turn;
}

// The task of the turn that delegates; null: a client delegates, or its descendants would be too
// deep.
const state::Task* delegating_task(const Session& view, const ThreadId& parent, Delegator delegator,
                                   const Inputs& inputs) {
  const Thread* thread = find_thread(view, parent);
  if (delegator != Delegator::turn || !thread || !thread->active) return nullptr;
  const state::Task* task = task_of(inputs, thread->active->ids.task);
  if (!task || depth_of(task, inputs) >= inputs.settings->task_depth_max) return nullptr;
  return task;
}

// The task of a delegation, a child of the task that delegates. Its thread is named, so that no
// worker outside can claim it.
void create_task(Facts& facts, const TurnIds& turn, const std::vector<InputPart>& input,
                 bool queued, const state::Task* parent) {
  TaskCreated created{.visibility = Visibility::background,
                      .status = queued ? TaskStatus::queued : TaskStatus::accepted,
                      .objective = objective_of(input),
                      .task_kind = std::string(kSource)};
  created.thread_id = turn.thread;
  facts.add(facts.of(turn), std::move(created));
  if (parent)  // before the turn is submitted, so it is a fact of the task alone
    facts.add(TaskScope{facts.of(turn).ids().session, turn.task},
              parent_edge(parent->task_id, EdgeStatus::active));
}

// Records the turn of a delegation; the caller starts or queues it.
void submit(Facts& facts, const TurnIds& turn, const std::vector<InputPart>& input,
            const TurnOptions& options, const Tracing& tracing,
            std::optional<std::uint64_t> position) {
  TurnSubmitted submitted;
  submitted.status = position ? Status::queued : Status::accepted;
  submitted.input = input;
  submitted.source = std::string(kSource);
  submitted.options = options;
  submitted.position = position;
  submitted.parent_span_id = tracing.parent;
  submitted.trace_sampled = tracing.sampled;
  facts.add(facts.of(turn), std::move(submitted));
}

// The delegating task is that of the parent's turn; a client has none.
void delegate(Facts& facts, const Session& view, const ThreadId& parent, const TurnIds& turn,
              const SubagentId& subagent, Delegator delegator) {
  const Thread* thread = find_thread(view, parent);
  const bool of_turn = delegator == Delegator::turn && thread && thread->active;
  TaskDelegated delegated;
  delegated.child_task_id = turn.task;
  delegated.subagent_id = subagent;
  facts.add(facts.of(of_turn ? thread->active->ids : turn), std::move(delegated));
}

// Ends the subagent's delegations and closes it.
void close_one(Facts& facts, const Session& view, const Subagent& subagent,
               const std::string& reason) {
  const SubagentScope scope = scope_of(facts, view, subagent.parent, subagent.id);
  if (const Thread* thread = find_thread(view, subagent.thread)) {
    std::vector<TurnId> ended;
    cancel_turns(facts, *thread, reason, ended);
    const auto report = [&](const Turn& turn) {
      SubagentFailed failed;
      failed.child_thread_id = subagent.thread;
      failed.task_id = turn.ids.task;
      failed.error = Failure{Category::cancelled, reason, false};
      facts.add(scope, std::move(failed));
    };
    if (thread->active) report(*thread->active);
    std::ranges::for_each(thread->queue, report);
  }
  facts.add(facts.of(subagent.thread), ThreadUpdated{.status = Status::idle, .reason = "closed"});
  facts.add(scope, SubagentClosed{subagent.thread, reason});
}

// A session keeps a limited number of idle subagents. One more closes the one that was idle for the
// longest time.
void make_room(Facts& facts, const Session& view, const Settings& settings) {
  if (view.subagents.size() < settings.subagents_kept_max) return;
  const Subagent* oldest = nullptr;
  for (const auto& [_, each] : view.subagents) {
    if (each.open > 0 || !state::children_of(view, each.thread).empty()) continue;
    if (!oldest || each.updated_at < oldest->updated_at) oldest = &each;
  }
  if (oldest) close_one(facts, view, *oldest, "it was idle, and a session keeps a limited number");
}

Decided not_open(const SubagentId& id, const Inputs& inputs) {
  if (inputs.named.subagent)
    return refuse(Code::conflict, fmt::format("subagent {} is closed", id.text()),
                  R"({"status":"closed"})");
  return refuse(Code::not_found, fmt::format("there is no subagent {}", id.text()));
}

DelegationReply reply_of(const Session& view, const Delegation& made, ChildStatus status) {
  return {.session_id = view.id,
          .subagent_id = made.subagent,
          .thread_id = made.thread,
          .task_id = made.task,
          .turn_id = made.turn,
          .status = status,
          .sequence = 0};
}

// The subagent id was used before: the same params get the same reply, others are refused.
Decided repeated(const Fact& fact, const Inputs& inputs) {
  const auto& spawned = std::get<SubagentSpawned>(fact.payload);
  if (fact.ids.session != inputs.session || spawned.params_hash != inputs.params_hash)
    return refuse(Code::idempotency_conflict,
                  fmt::format("subagent {} already exists and was spawned with other params",
                              fact.ids.subagent_id.text()));
  return Unchanged{to_json(DelegationReply{.session_id = fact.ids.session,
                                           .subagent_id = fact.ids.subagent_id,
                                           .thread_id = spawned.child_thread_id,
                                           .task_id = spawned.task_id,
                                           .turn_id = spawned.child_turn_id.value_or(TurnId{}),
                                           .status = ChildStatus::running,
                                           .sequence = fact.sequence + kFactsAfterAccepted})};
}

}  // namespace

std::optional<Error> spawn_refusal(const Session& view, std::size_t threads, const Thread& parent,
                                   const policy::Effective& policy, NewSubagent& wanted,
                                   const Settings& settings) {
  if (wanted.role.empty()) return Error{Code::invalid_params, "role: expected a text", {}};
  if (wanted.prompt.empty()) return Error{Code::invalid_params, "prompt: expected a text", {}};
  if (parent.subagent && !state::find_subagent(view, *parent.subagent))
    return Error{Code::conflict, fmt::format("subagent {} is closed", parent.subagent->text()),
                 R"({"status":"closed"})"};
  if (auto error = forbidden_choice(wanted.mode, wanted.sandbox, settings)) return error;
  if (auto error = wider_than(view, policy, wanted)) return error;
  if (auto error = too_deep(view, parent, settings)) return error;
  if (auto error = too_many_running(view, settings)) return error;
  if (threads >= settings.threads_max)
    return Error{
        Code::limit_exceeded,
        fmt::format("the session has reached the limit of {} threads", settings.threads_max),
        {}};
  return std::nullopt;
}

Delegation spawn(Facts& facts, const Session& view, const Thread& parent, const NewSubagent& wanted,
                 Delegator delegator, FreshIds& ids, const Inputs& inputs) {
  make_room(facts, view, *inputs.settings);
  const SubagentId id = wanted.id ? *wanted.id : ids.next<SubagentId>();
  const Tracing tracing = tracing_of(view, parent.id, delegator, inputs);
  TurnIds turn = fresh_turn(ids.next<ThreadId>(), tracing, ids);
  if (wanted.task) turn.task = wanted.task->task_id;
  const std::vector<InputPart> input{{InputKind::text, wanted.prompt, {}, {}}};
  facts.add(facts.of(turn.thread), ThreadStarted{});
  if (wanted.task)
    next_attempt(facts, *wanted.task, turn, false);
  else
    create_task(facts, turn, input, false, delegating_task(view, parent.id, delegator, inputs));
  submit(facts, turn, input, options_of(parent, wanted, delegator), tracing, std::nullopt);
  delegate(facts, view, parent.id, turn, id, delegator);
  SubagentSpawned spawned;
  spawned.child_thread_id = turn.thread;
  spawned.role = wanted.role;
  spawned.nickname = wanted.nickname;
  spawned.task_id = turn.task;
  spawned.parent_thread_id = parent.id;
  spawned.child_turn_id = turn.turn;
  spawned.mode = wanted.mode;
  spawned.sandbox = wanted.sandbox;
  spawned.tools = wanted.tools;
  spawned.write_roots = wanted.write_roots;
  spawned.model = wanted.model;
  spawned.params_hash = wanted.params_hash;
  facts.add(scope_of(facts, view, parent.id, id), std::move(spawned));
  facts.start(turn);
  return {id, turn.thread, turn.task, turn.turn};
}

std::optional<Error> input_refusal(const Session& view, const Subagent& subagent,
                                   const Settings& settings) {
  if (subagent.open == 0)
    if (auto error = too_many_running(view, settings)) return error;
  if (subagent.open <= settings.queue_turns_max) return std::nullopt;
  return Error{Code::limit_exceeded,
               fmt::format("the queue of this subagent is full: {} inputs are waiting",
                           settings.queue_turns_max),
               fmt::format(R"({{"queueTurnsMax":{}}})", settings.queue_turns_max)};
}

namespace {

// What the subagent was spawned with, for a further delegation.
NewSubagent given_to(const Subagent& subagent, Delegator delegator) {
  NewSubagent given;
  given.model = subagent.model;
  // The scope approve of the client that spawned it does not extend to other clients.
  const bool by_turn = delegator == Delegator::turn;
  if (subagent.mode &&
      (by_turn || policy::at_most_as_lax(*subagent.mode, PermissionMode::default_)))
    given.mode = subagent.mode;
  if (subagent.sandbox &&
      (by_turn || policy::at_most_as_lax(*subagent.sandbox, SandboxMode::workspace_write)))
    given.sandbox = subagent.sandbox;
  given.tools = subagent.tools;
  return given;
}

// Adds the constraints of a task, where they are stricter.
void restrict(NewSubagent& given, const TaskConstraints& constraints) {
  if (constraints.model) given.model = constraints.model;
  if (constraints.mode && (!given.mode || policy::at_most_as_lax(*constraints.mode, *given.mode)))
    given.mode = constraints.mode;
  if (constraints.sandbox &&
      (!given.sandbox || policy::at_most_as_lax(*constraints.sandbox, *given.sandbox)))
    given.sandbox = constraints.sandbox;
  if (!constraints.tools) return;
  if (!given.tools) given.tools = constraints.tools;
  std::erase_if(*given.tools, [&](const std::string& tool) {
    return std::ranges::find(*constraints.tools, tool) == constraints.tools->end();
  });
}

// A delegation after the first. `task`: an existing one; null: a new one.
Attempt delegate_more(Facts& facts, const Session& view, const Subagent& subagent,
                      const NewSubagent& given, const std::vector<InputPart>& input,
                      const state::Task* task, Delegator delegator, FreshIds& ids,
                      const Inputs& inputs) {
  const Tracing tracing = tracing_of(view, subagent.parent, delegator, inputs);
  TurnIds turn = fresh_turn(subagent.thread, tracing, ids);
  std::optional<std::uint64_t> position;
  if (subagent.open > 0) position = subagent.open;  // one runs, the others wait
  if (!task) {
    create_task(facts, turn, input, position.has_value(),
                delegating_task(view, subagent.parent, delegator, inputs));
  } else {
    turn.task = task->task_id;
    if (position)
      facts.add(TaskScope(facts.of(turn)),
                TaskQueued{.reason = "thread",
                           .worker = TaskWorker{WorkerKind::turn, subagent.thread, {}, {}}});
  }
  const Thread* parent = find_thread(view, subagent.parent);
  submit(facts, turn, input, options_of(parent ? *parent : Thread{}, given, delegator), tracing,
         position);
  delegate(facts, view, subagent.parent, turn, subagent.id, delegator);
  SubagentInput given_input;
  given_input.child_thread_id = subagent.thread;
  given_input.task_id = turn.task;
  given_input.preview = preview_of(input);
  facts.add(scope_of(facts, view, subagent.parent, subagent.id), std::move(given_input));
  if (position)
    facts.add(facts.of(turn), QueueChanged{.change = QueueChange::added,
                                           .turn_id = turn.turn,
                                           .position = *position,
                                           .count = *position});
  else
    facts.start(turn);
  return {turn, position.has_value()};
}

}  // namespace

Delegation send_input(Facts& facts, const Session& view, const Subagent& subagent,
                      const std::vector<InputPart>& input, Delegator delegator, FreshIds& ids,
                      const Inputs& inputs) {
  const Attempt made = delegate_more(facts, view, subagent, given_to(subagent, delegator), input,
                                     nullptr, delegator, ids, inputs);
  return {subagent.id, subagent.thread, made.turn.task, made.turn.turn};
}

Attempt send_task(Facts& facts, const Session& view, const Subagent& subagent,
                  const state::Task& task, FreshIds& ids, const Inputs& inputs) {
  NewSubagent given = given_to(subagent, Delegator::client);
  if (task.constraints) restrict(given, *task.constraints);
  return delegate_more(facts, view, subagent, given, {{InputKind::text, task.objective, {}, {}}},
                       &task, Delegator::client, ids, inputs);
}

// --- commands ---

namespace {

// A delegated task keeps its constraints, where the command names none.
void take_constraints(NewSubagent& wanted, const state::Task& task) {
  if (!task.constraints) return;
  if (!wanted.model) wanted.model = task.constraints->model;
  if (!wanted.mode) wanted.mode = task.constraints->mode;
  if (!wanted.sandbox) wanted.sandbox = task.constraints->sandbox;
  if (!wanted.tools) wanted.tools = task.constraints->tools;
}

}  // namespace

Decided spawn_subagent(const Session& view, const SpawnSubagent& command, Inputs inputs) {
  if (inputs.named.spawned) return repeated(*inputs.named.spawned, inputs);
  if (!view.exists())
    return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
  const Thread* parent = find_thread(view, command.thread_id);
  if (!parent)
    return refuse(Code::not_found,
                  fmt::format("there is no thread {} in this session", command.thread_id.text()));
  NewSubagent wanted{.id = command.subagent_id,
                     .role = command.role,
                     .prompt = command.prompt,
                     .nickname = command.nickname,
                     .model = command.model,
                     .mode = command.mode,
                     .sandbox = command.sandbox,
                     .tools = command.tools,
                     .write_roots = command.write_roots};
  if (command.subagent_id) wanted.params_hash = inputs.params_hash;
  if (command.task_id) {
    auto task = named_task(view, *command.task_id, inputs);
    if (!task) return std::move(task).error();
    if (auto error = no_next_attempt(view, **task, inputs)) return *error;
    wanted.task = *task;
    take_constraints(wanted, **task);
  }
  Turn now;
  now.ids.thread = parent->id;
  if (parent->active) now = *parent->active;
  if (!parent->active && parent->last) now = *parent->last;
  const policy::Effective policy = effective_policy(view, now, inputs);
  if (auto error =
          spawn_refusal(view, view.threads.size(), *parent, policy, wanted, *inputs.settings))
    return *error;
  Facts facts{view, inputs};
  FreshIds ids = inputs.ids;
  const Delegation made = spawn(facts, view, *parent, wanted, Delegator::client, ids, inputs);
  return accept(facts, reply_of(view, made, ChildStatus::running));
}

Decided send_subagent_input(const Session& view, const SendSubagentInput& command, Inputs inputs) {
  if (auto error = wrong_input(command.input)) return *error;
  if (inputs.named.output) return *inputs.named.output;
  const Subagent* subagent = state::find_subagent(view, command.subagent_id);
  if (!subagent) return not_open(command.subagent_id, inputs);
  if (auto error = input_refusal(view, *subagent, *inputs.settings)) return *error;
  Facts facts{view, inputs};
  FreshIds ids = inputs.ids;
  const bool queued = subagent->open > 0;
  const Delegation made =
      send_input(facts, view, *subagent, command.input, Delegator::client, ids, inputs);
  return accept(facts, reply_of(view, made, queued ? ChildStatus::queued : ChildStatus::running));
}

Decided resume_subagent(const Session& view, const ResumeSubagent& command, Inputs inputs) {
  const Subagent* subagent = state::find_subagent(view, command.subagent_id);
  if (!subagent) return not_open(command.subagent_id, inputs);
  SubagentReply reply{view.id, subagent->id, subagent->status, view.sequence};
  Facts facts{view, inputs};
  const Thread* thread = find_thread(view, subagent->thread);
  if (thread && is_resumable(*thread)) {
    facts.resume(*thread->active);
    reply.status = ChildStatus::running;
  }
  (void)resume_below(facts, view, subagent->thread);
  if (facts.empty()) return Unchanged{to_json(reply)};
  return accept(facts, reply);
}

Decided close_subagent(const Session& view, const CloseSubagent& command, Inputs inputs) {
  const Subagent* subagent = state::find_subagent(view, command.subagent_id);
  if (!subagent && inputs.named.subagent)
    return Unchanged{
        to_json(SubagentReply{view.id, command.subagent_id, ChildStatus::closed, view.sequence})};
  if (!subagent) return not_open(command.subagent_id, inputs);
  Facts facts{view, inputs};
  std::vector<const Subagent*> closed;
  collect_below(view, subagent->thread, closed);
  closed.push_back(subagent);
  for (const Subagent* each : closed)
    close_one(facts, view, *each, command.reason.value_or("closed"));
  return accept(facts, SubagentReply{view.id, subagent->id, ChildStatus::closed, 0});
}

}  // namespace agentrt::control
