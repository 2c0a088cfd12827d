// control/submit.cc: decides how a submitted turn is accepted: started, queued or refused.
#include "control/submit.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/folders.h"
#include "control/jobs/jobs.h"
#include "control/subagents/subagents.h"
#include "control/tasks/task_facts.h"
#include "control/turn_facts.h"

namespace agentrt::control {

using namespace schema;

std::optional<Error> wrong_input(const std::vector<InputPart>& input) {
  if (input.empty()) return Error{Code::invalid_params, "input: expected at least one part", {}};
  for (std::size_t i = 0; i < input.size(); ++i) {
    const InputPart& part = input[i];
    const auto [member, given] = part.type == InputKind::text   ? std::pair{"text", &part.text}
                                 : part.type == InputKind::file ? std::pair{"path", &part.path}
                                                                : std::pair{"ref", &part.ref};
    const int members = int{part.text.has_value()} + part.path.has_value() + part.ref.has_value();
    if (!*given || members != 1)
      return Error{Code::invalid_params,
                   fmt::format("input[{}]: a part of type {} has the member {} and no other", i,
                               name_of(part.type), member),
                   {}};
  }
  return std::nullopt;
}

std::optional<Error> forbidden_choice(const std::optional<PermissionMode>& mode,
                                      const std::optional<SandboxMode>& sandbox,
                                      const Settings& settings) {
  const auto among = [](const auto& list, const auto& value) {
    return value && std::ranges::find(list, *value) != list.end();
  };
  if (among(settings.modes_forbidden, mode))
    return Error{
        Code::forbidden,
        fmt::format("the managed configuration does not allow the mode {}", name_of(*mode)),
        {}};
  if (among(settings.sandboxes_forbidden, sandbox))
    return Error{Code::forbidden,
                 fmt::format("the managed configuration does not allow the sandbox mode {}",
                             name_of(*sandbox)),
                 {}};
  return std::nullopt;
}

std::string objective_of(const std::vector<InputPart>& input) {
  constexpr std::size_t kObjectiveBytes = 200;
  for (const InputPart& part : input)
    if (part.text) return std::string(utf8_prefix(*part.text, kObjectiveBytes));
  const InputPart& first = input.front();
  return std::string(
      utf8_prefix(first.path ? *first.path : first.ref.value_or(""), kObjectiveBytes));
}

void next_attempt(Facts& facts, const state::Task& task, const TurnIds& turn, bool queued) {
  const TaskWorker worker{WorkerKind::turn, turn.thread, {}, {}};
  const TaskScope scope = facts.of(turn);
  if (retryable_end(task.status))
    facts.add(scope,
              TaskRetrying{
                  .reason = "submitted again", .previous_status = task.status, .worker = worker});
  if (queued) facts.add(scope, TaskQueued{.reason = "thread", .worker = worker});
}

namespace {

FolderChoice folders_of(const TurnOptions& options) {
  return {options.cwd, options.additional_roots.value_or(std::vector<std::string>{})};
}

std::optional<Error> wrong_wait(const TurnOptions& options) {
  const std::int64_t wait = options.ask_timeout_ms.value_or(0);
  if (wait >= 0 && wait <= kAskTimeoutMaxMs) return std::nullopt;
  return Error{Code::invalid_params,
               fmt::format("options.askTimeoutMs: expected 0 to {}", kAskTimeoutMaxMs),
               {}};
}

// The turn id was used before: the same params get the same reply, others are refused.
Decided repeated(const Named::KnownTurn& known, const Inputs& inputs) {
  const Ids& ids = known.submitted.ids;
  const auto& submitted = std::get<TurnSubmitted>(known.submitted.payload);
  if (submitted.params_hash != inputs.params_hash)
    return refuse(Code::idempotency_conflict,
                  fmt::format("turn {} already exists and was submitted with other params",
                              ids.turn_id.text()));
  const bool queued = submitted.status == Status::queued;
  return Unchanged{to_json(SubmitTurnReply{
      .session_id = ids.session,
      .thread_id = ids.thread_id,
      .turn_id = ids.turn_id,
      .task_id = ids.task_id,
      .status = submitted.status,
      .position = submitted.position,
      .sequence = known.submitted.sequence + (queued ? kFactsAfterQueued : kFactsAfterAccepted)})};
}

Decided busy(const Thread& thread) {
  return refuse(Code::conflict, "the thread is busy and the queue policy is reject",
                fmt::format(R"({{"status":"{}","activeTurnId":{}}})", name_of(thread.status),
                            to_json(thread.active->ids.turn)));
}

struct Place {
  ThreadId id;
  const Thread* thread = nullptr;  // null: a new thread
};

// A closed thread takes no turns, and that of a subagent takes them from its parent only.
std::optional<Error> takes_no_turns(const Place& place, const Inputs& inputs) {
  if (!place.thread && inputs.named.thread_closed)
    return Error{Code::conflict, fmt::format("thread {} is closed", place.id.text()),
                 R"({"status":"closed"})"};
  if (!place.thread || !place.thread->subagent) return std::nullopt;
  return Error{Code::conflict,
               fmt::format("thread {} belongs to subagent {}: use send_subagent_input for it",
                           place.id.text(), place.thread->subagent->text()),
               fmt::format(R"({{"subagentId":{}}})", to_json(*place.thread->subagent))};
}

// Ends the running turn, and with it the work of the subagents below it.
void interrupt(Facts& facts, const Session& view, const Thread& thread) {
  std::vector<TurnId> ended;
  end_below(facts, view, thread.id, "its parent was interrupted by a newer turn", ended);
  facts.cancel(*thread.active, "interrupted by a newer turn");
}

std::optional<Error> no_room(const Session& view, const Place& place, QueuePolicy policy,
                             const Settings& settings) {
  if (!place.thread && view.threads.size() >= settings.threads_max)
    return Error{
        Code::limit_exceeded,
        fmt::format("the session has reached the limit of {} threads", settings.threads_max),
        {}};
  if (place.thread && place.thread->active && policy == QueuePolicy::enqueue &&
      place.thread->queue.size() >= settings.queue_turns_max)
    return Error{Code::limit_exceeded,
                 fmt::format("the queue of this thread is full: {} turns are waiting",
                             settings.queue_turns_max),
                 fmt::format(R"({{"queueTurnsMax":{}}})", settings.queue_turns_max)};
  return std::nullopt;
}

// The existing task of which the turn is the next attempt; null: none is named, or it is new.
Result<const state::Task*> existing_task(const Session& view, const SubmitTurn& command,
                                         const Inputs& inputs) {
  if (!command.task_id) return nullptr;
  auto found = named_task(view, *command.task_id, inputs);
  if (!found && found.error().code == Code::not_found) return nullptr;
  if (found)
    if (auto error = no_next_attempt(view, **found, inputs)) return std::unexpected(*error);
  return found;
}

// A turn on an existing task is under its constraints, where the submission names none.
void take_constraints(const state::Task& task, TurnOptions& options) {
  const TurnOptions given = options_of(task);
  if (!options.model) options.model = given.model;
  if (!options.mode) options.mode = given.mode;
  if (!options.sandbox) options.sandbox = given.sandbox;
  if (given.tools) options.tools = given.tools;
}

void make_places(Facts& facts, const Session& view, const Place& place, const TurnOptions& options,
                 const Inputs& inputs) {
  if (!view.exists()) {
    FolderChoice folders = folders_of_new(folders_of(options), inputs);
    SessionCreated created{.cwd = *std::move(folders.cwd)};
    if (options.additional_roots) created.additional_roots = std::move(folders.additional_roots);
    facts.add(facts.of_session(), std::move(created));
  }
  if (!place.thread) facts.add(facts.of(place.id), ThreadStarted{});
}

}  // namespace

Decided submit_turn(const Session& view, const SubmitTurn& command, Inputs inputs) {
  if (inputs.named.turn) return repeated(*inputs.named.turn, inputs);
  if (auto error = wrong_input(command.input)) return *error;
  if (inputs.named.output) return *inputs.named.output;
  TurnOptions options = command.options.value_or(TurnOptions{});
  if (auto error = wrong_folders(view, "options.", folders_of(options), inputs)) return *error;
  if (auto error = wrong_wait(options)) return *error;
  if (auto error = forbidden_choice(options.mode, options.sandbox, *inputs.settings)) return *error;
  if (command.metadata && !command.metadata->text.starts_with('{'))
    return refuse(Code::invalid_params, "metadata: expected an object");
  auto existing = existing_task(view, command, inputs);
  if (!existing) return std::move(existing).error();
  const state::Task* task = *existing;
  if (task) take_constraints(*task, options);

  Place place;
  place.id = command.thread_id ? *command.thread_id : inputs.ids.next<ThreadId>();
  place.thread = find_thread(view, place.id);
  if (auto error = thread_of_job(view, place.id)) return *error;
  if (auto error = takes_no_turns(place, inputs)) return *error;
  const QueuePolicy policy = options.queue_policy.value_or(QueuePolicy::enqueue);
  const bool running = place.thread && place.thread->active;
  if (running && policy == QueuePolicy::reject) return busy(*place.thread);
  if (auto error = no_room(view, place, policy, *inputs.settings)) return *error;

  const TurnIds turn{.thread = place.id,
                     .turn = command.turn_id ? *command.turn_id : inputs.ids.next<TurnId>(),
                     .task = command.task_id ? *command.task_id : inputs.ids.next<TaskId>(),
                     .run = inputs.ids.next<RunId>(),
                     .attempt = inputs.ids.next<AttemptId>(),
                     .trace = trace_of(inputs, inputs.ids)};
  const bool queued = running && policy == QueuePolicy::enqueue;
  const std::uint64_t position = queued ? place.thread->queue.size() + 1 : 0;

  Facts facts{view, inputs};
  if (running && !queued) interrupt(facts, view, *place.thread);
  make_places(facts, view, place, options, inputs);
  if (task)
    next_attempt(facts, *task, turn, queued);
  else
    facts.add(
        facts.of(turn),
        TaskCreated{.visibility = command.task_id ? Visibility::foreground : Visibility::internal,
                    .status = queued ? TaskStatus::queued : TaskStatus::accepted,
                    .objective = objective_of(command.input),
                    .task_kind = "turn"});
  TurnSubmitted submitted{.status = queued ? Status::queued : Status::accepted,
                          .input = command.input,
                          .source = "user",
                          .options = options,
                          .metadata = command.metadata};
  name_caller(submitted, inputs.trace);
  if (queued) submitted.position = position;
  if (command.turn_id) submitted.params_hash = inputs.params_hash;
  facts.add(facts.of(turn), std::move(submitted));
  if (queued)
    facts.add(facts.of(turn), QueueChanged{.change = QueueChange::added,
                                           .turn_id = turn.turn,
                                           .position = position,
                                           .count = position});
  else
    facts.start(turn);
  return accept(facts, SubmitTurnReply{.session_id = inputs.session,
                                       .thread_id = turn.thread,
                                       .turn_id = turn.turn,
                                       .task_id = turn.task,
                                       .status = queued ? Status::queued : Status::accepted,
                                       .position = queued ? std::optional(position) : std::nullopt,
                                       .sequence = 0});
}

}  // namespace agentrt::control
