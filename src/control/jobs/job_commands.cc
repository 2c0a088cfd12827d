// control/jobs/job_commands.cc: decides the commands about jobs: create, cancel, and retry of an
// item.
#include "control/jobs/jobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/output_facts.h"
#include "control/submit.h"
#include "control/tasks/task_facts.h"
#include "schema/arguments.h"
#include "tools/shell.h"

namespace agentrt::control {

using namespace schema;

namespace {

// Facts of create_job after job.created: task.delegated, task.started, task.attempt.started,
// job.started.
constexpr Sequence kFactsAfterCreated = 4;
// If its task waits for others: task.delegated, task.queued.
constexpr Sequence kFactsAfterQueued = 2;
constexpr std::uint64_t kCommandTimeoutMaxMs = 3'600'000;
constexpr std::size_t kObjectiveBytes = 200;

std::optional<std::string> wrong_runner(const JobRunner& runner) {
  const bool command = runner.kind == RunnerKind::command;
  if (command && (!runner.command || runner.command->empty()))
    return "runner.command: expected the command that runs for each item";
  if (!command && (!runner.instruction || runner.instruction->empty()))
    return "runner.instruction: expected what the model does with each item";
  const auto only = [](std::string_view member, std::string_view kind) {
    return fmt::format("runner.{}: only allowed with kind {}", member, kind);
  };
  if (command && runner.instruction) return only("instruction", "turn");
  if (command && runner.model) return only("model", "turn");
  if (command && runner.tools) return only("tools", "turn");
  if (command && runner.output_schema) return only("outputSchema", "turn");
  if (!command && runner.command) return only("command", "command");
  if (!command && runner.timeout_ms) return only("timeoutMs", "command");
  if (runner.output_schema && unusable_schema(*runner.output_schema))
    return "runner.outputSchema: expected the JSON Schema of an object, because every answer is "
           "one";
  if (runner.timeout_ms && (*runner.timeout_ms == 0 || *runner.timeout_ms > kCommandTimeoutMaxMs))
    return fmt::format("runner.timeoutMs: expected 1 to {}", kCommandTimeoutMaxMs);
  return std::nullopt;
}

std::optional<Error> wrong_job(const CreateJob& command, const Inputs& inputs) {
  const auto wrong = [](std::string message) {
    return Error{Code::invalid_params, std::move(message), {}};
  };
  if (auto message = wrong_runner(command.runner)) return wrong(*std::move(message));
  if (command.retry_policy)
    if (auto error = wrong_retry_policy(*command.retry_policy)) return error;
  const std::uint64_t most = std::min(inputs.settings->job_concurrency_max, kJobConcurrencyMax);
  if (command.concurrency && (*command.concurrency == 0 || *command.concurrency > most))
    return wrong(fmt::format("concurrency: expected 1 to {} (limits.job_concurrency)", most));
  if (command.max_runtime_ms &&
      (*command.max_runtime_ms <= 0 || *command.max_runtime_ms > kJobTimeMaxMs))
    return wrong(fmt::format("maxRuntimeMs: expected 1 to {}", kJobTimeMaxMs));
  return std::nullopt;
}

// The job id was used before: the same params get the same reply, others are refused.
Decided repeated(const JobRecord& known, const Inputs& inputs) {
  if (!known.params_hash || *known.params_hash != inputs.params_hash)
    return refuse(Code::idempotency_conflict,
                  fmt::format("job {} already exists and was created with other params",
                              known.ids.job.text()));
  const bool queued = known.created_queued.value_or(false);
  return Unchanged{to_json(
      CreateJobReply{.session_id = inputs.session,
                     .job_id = known.ids.job,
                     .task_id = known.ids.task,
                     .status = queued ? JobStatus::queued : JobStatus::running,
                     .items = known.items,
                     .sequence = known.first + (queued ? kFactsAfterQueued : kFactsAfterCreated)})};
}

JobCreated created_of(const CreateJob& command, const Inputs& inputs) {
  JobCreated created;
  created.input_refs = std::vector<std::string>{inputs.named.items->ref};
  created.items = inputs.named.items->items;
  created.runner = command.runner;
  created.options = command.options;
  created.retry_policy = command.retry_policy;
  created.concurrency = command.concurrency.value_or(
      std::min<std::uint64_t>(kJobConcurrencyDefault, inputs.settings->job_concurrency_max));
  created.max_runtime_ms = command.max_runtime_ms;
  created.repeatable = command.repeatable;
  if (command.job_id) created.params_hash = inputs.params_hash;
  if (command.runner.kind == RunnerKind::turn) return created;
  tools::ShellArgs args;
  args.command = *command.runner.command;
  args.timeout_ms = command.runner.timeout_ms;
  created.tool_name = std::string(tools::kShell.name);
  created.tool_args = Json{to_json(args)};
  return created;
}

// Starts an attempt of the job at its task.
void start_job(Facts& facts, const JobIds& ids, std::uint64_t task_attempts, JobStarted started,
               const Inputs& inputs) {
  const JobScope scope{inputs.session, ids};
  facts.add(scope.of_attempt(), TaskStarted{});
  facts.add(scope.of_attempt(),
            TaskAttemptStarted{.attempt_count = task_attempts + 1,
                               .boot_id = inputs.boot,
                               .worker = TaskWorker{WorkerKind::job, {}, ids.job, {}}});
  facts.add(scope, std::move(started));
}

// Starts a queued job. Its run and attempt have had their ids since it was created.
JobIds start_queued(Facts& facts, const JobRecord& known, const state::Task& task,
                    const Inputs& inputs) {
  start_job(facts, known.ids, task.attempts_made,
            JobStarted{.reason = {}, .attempt_count = 1, .job = known}, inputs);
  return known.ids;
}

// Starts an ended job again, as the next attempt of its task.
JobIds reopen(Facts& facts, const JobRecord& known, const state::Task& task,
              const std::string& reason, bool all_failed, Inputs& inputs) {
  const JobIds ids{.job = known.ids.job,
                   .task = known.ids.task,
                   .run = inputs.ids.next<RunId>(),
                   .attempt = inputs.ids.next<AttemptId>()};
  JobRecord record = known;
  record.redo = all_failed ? known.counts.failed : 0;
  record.redo_before = 0;
  start_job(
      facts, ids, task.attempts_made,
      JobStarted{.reason = reason, .attempt_count = known.attempts + 1, .job = std::move(record)},
      inputs);
  return ids;
}

std::optional<Error> too_many_jobs(const Session& view, const Settings& settings) {
  if (view.jobs.size() < settings.jobs_max) return std::nullopt;
  return Error{Code::limit_exceeded,
               fmt::format("{} jobs of this session are running or queued "
                           "(limits.jobs_running): wait until one has ended",
                           view.jobs.size()),
               {}};
}

// The existing task of which the job is the next attempt; null: none is named, or it is new.
Result<const state::Task*> existing_task(const Session& view, const CreateJob& command,
                                         const Inputs& inputs) {
  if (!command.task_id) return nullptr;
  auto found = named_task(view, *command.task_id, inputs);
  if (!found && found.error().code == Code::not_found) return nullptr;
  if (found)
    if (auto error = no_next_attempt(view, **found, inputs, WhenBlocked::queue))
      return std::unexpected(*error);
  return found;
}

// The job is under the constraints of its task, where the command names none.
CreateJob with_constraints(CreateJob command, const state::Task* task) {
  if (!task || !task->constraints) return command;
  const TaskConstraints& given = *task->constraints;
  if (!command.options) command.options.emplace();
  if (!command.options->mode) command.options->mode = given.mode;
  if (!command.options->sandbox) command.options->sandbox = given.sandbox;
  if (!command.repeatable) command.repeatable = given.repeatable;
  if (command.runner.kind == RunnerKind::command) return command;
  if (!command.runner.model) command.runner.model = given.model;
  if (given.tools) command.runner.tools = given.tools;
  return command;
}

// The task that a job creates for itself.
TaskCreated task_of_job(const CreateJob& command) {
  const std::string& text = command.runner.kind == RunnerKind::command
                                ? *command.runner.command
                                : *command.runner.instruction;
  TaskCreated created{.visibility = Visibility::background,
                      .status = TaskStatus::accepted,
                      .objective = std::string(utf8_prefix(text, kObjectiveBytes)),
                      .task_kind = "job"};
  const JobOptions options = command.options.value_or(JobOptions{});
  if (!options.mode && !options.sandbox) return created;
  created.constraints.emplace();  // another attempt needs the same scope
  created.constraints->mode = options.mode;
  created.constraints->sandbox = options.sandbox;
  return created;
}

Decided no_job(const JobId& job) {
  return refuse(Code::not_found, fmt::format("there is no job {}", job.text()));
}

bool is_busy(const Session& view, const state::Job& job, const JobItemId& item) {
  const auto waits = [&](const state::WaitingItem& each) { return each.item.at.id == item; };
  if (std::ranges::any_of(job.waiting, waits)) return true;
  return std::ranges::any_of(job.record.threads, [&](const ThreadId& id) {
    const Thread* thread = find_thread(view, id);
    return thread && thread->active && thread->active->ids.job_item == item;
  });
}

Decided not_failed(const JobItemId& item, JobItemStatus status) {
  return refuse(
      Code::conflict,
      fmt::format("item {} is {}: only a failed item can be retried", item.text(), name_of(status)),
      fmt::format(R"({{"status":"{}"}})", name_of(status)));
}

}  // namespace

const state::Job* find_job(const Session& view, const JobId& job) {
  const auto at = view.jobs.find(job);
  return at == view.jobs.end() ? nullptr : &at->second;
}

const state::Job* job_of(const Session& view, const Turn& turn) {
  return turn.item && turn.ids.job ? find_job(view, *turn.ids.job) : nullptr;
}

bool runs_command(const Session& view, const Turn& turn) {
  const state::Job* job = job_of(view, turn);
  return job && job->record.runner.kind == RunnerKind::command;
}

std::optional<Error> job_waits_for(const Session& view, const TaskId& task,
                                   const std::optional<JobId>& worker) {
  const state::Job* job = job_of_task(view, task);
  if (!job || job->record.status != JobStatus::queued || worker == job->record.ids.job)
    return std::nullopt;
  const JobId& id = job->record.ids.job;
  return Error{
      Code::conflict,
      fmt::format("job {} is queued for task {}: cancel the job first", id.text(), task.text()),
      fmt::format(R"({{"status":"queued","jobId":{}}})", to_json(id))};
}

const state::Job* job_of_task(const Session& view, const TaskId& task) {
  for (const auto& [_, job] : view.jobs)
    if (job.record.ids.task == task) return &job;
  return nullptr;
}

std::optional<Error> thread_of_job(const Session& view, const ThreadId& thread) {
  for (const auto& [id, job] : view.jobs)
    if (std::ranges::find(job.record.threads, thread) != job.record.threads.end())
      return Error{Code::conflict,
                   fmt::format("thread {} runs items of job {}: use another thread", thread.text(),
                               id.text()),
                   fmt::format(R"({{"jobId":{}}})", to_json(id))};
  return std::nullopt;
}

Decided create_job(const Session& view, const CreateJob& asked, Inputs inputs) {
  if (inputs.named.job) return repeated(*inputs.named.job, inputs);
  if (!view.exists())
    return refuse(Code::not_found,
                  fmt::format("there is no session {}: create it first", inputs.session.text()));
  auto existing = existing_task(view, asked, inputs);
  if (!existing) return std::move(existing).error();
  const state::Task* task = *existing;
  const CreateJob command = with_constraints(asked, task);
  if (auto error = wrong_job(command, inputs)) return *error;
  const JobOptions options = command.options.value_or(JobOptions{});
  if (auto error = forbidden_choice(options.mode, options.sandbox, *inputs.settings)) return *error;
  if (auto error = too_many_jobs(view, *inputs.settings)) return *error;
  check(inputs.named.items.has_value(), "the items of a new job were checked");

  const JobIds ids{.job = command.job_id ? *command.job_id : inputs.ids.next<JobId>(),
                   .task = command.task_id ? *command.task_id : inputs.ids.next<TaskId>(),
                   .run = inputs.ids.next<RunId>(),
                   .attempt = inputs.ids.next<AttemptId>()};
  const JobScope scope{inputs.session, ids};
  Facts facts{view, inputs};
  if (!task) facts.add(scope.of_attempt(), task_of_job(command));
  if (task && retryable_end(task->status))
    facts.add(TaskScope(scope.of_attempt()),
              TaskRetrying{.reason = "a new job",
                           .previous_status = task->status,
                           .worker = TaskWorker{WorkerKind::job, {}, ids.job, {}}});
  if (inputs.named.items->stored) add_output(facts, scope, *inputs.named.items->stored, inputs);
  CreateJobReply reply{.session_id = inputs.session,
                       .job_id = ids.job,
                       .task_id = ids.task,
                       .status = JobStatus::running,
                       .items = inputs.named.items->items,
                       .sequence = 0};
  JobCreated created = created_of(command, inputs);
  const std::vector<TaskId> blockers = task ? blockers_of(*task) : std::vector<TaskId>{};
  if (!blockers.empty()) {
    reply.blockers = blockers;
    reply.status = JobStatus::queued;
    created.status = JobStatus::queued;
  }
  facts.add(scope, std::move(created));
  facts.add(scope.of_attempt(), TaskDelegated{.child_task_id = ids.task, .job_id = ids.job});
  if (blockers.empty())
    start_job(facts, ids, task ? task->attempts_made : 0,
              JobStarted{.reason = {}, .attempt_count = 1, .job = {}}, inputs);
  else
    facts.add(
        TaskScope{inputs.session, ids.task},
        TaskQueued{.reason = "dependency", .worker = TaskWorker{WorkerKind::job, {}, ids.job, {}}});
  return accept(facts, std::move(reply));
}

Result<Run> reopen_job(Facts& facts, const Session& view, const state::Task& task,
                       const TaskWorker& worker, Inputs& inputs) {
  if (!inputs.named.job || inputs.named.job->ids.job != worker.job_id.value_or(JobId{}))
    return fail(Code::not_found,
                fmt::format("there is no job {}", worker.job_id.value_or(JobId{}).text()));
  const JobRecord& known = *inputs.named.job;
  if (known.ids.task != task.task_id)
    return fail(Code::conflict, fmt::format("job {} works on task {}", known.ids.job.text(),
                                            known.ids.task.text()));
  if (known.status == JobStatus::queued) {
    const JobIds ids = start_queued(facts, known, task, inputs);
    return Run{ids.run, ids.attempt, task.attempts_made + 1, TaskStatus::running};
  }
  if (known.status != JobStatus::failed)
    return fail(Code::conflict,
                fmt::format("job {} is {}: only a failed job starts again", known.ids.job.text(),
                            name_of(known.status)),
                fmt::format(R"({{"status":"{}"}})", name_of(known.status)));
  if (auto error = too_many_jobs(view, *inputs.settings)) return std::unexpected(*error);
  const JobIds ids = reopen(facts, known, task, "retry_task", true, inputs);
  return Run{ids.run, ids.attempt, task.attempts_made + 1, TaskStatus::running};
}

Decided job_reply(const Session& view, const JobId& job, JobStatus status) {
  return Unchanged{to_json(JobReply{view.id, job, status, view.sequence})};
}

Decided cancel_job(const Session& view, const CancelJob& command, Inputs inputs) {
  const state::Job* job = find_job(view, command.job_id);
  if (!job && !inputs.named.job) return no_job(command.job_id);
  if (!job) return job_reply(view, command.job_id, inputs.named.job->status);
  const std::string reason = command.reason.value_or("cancel_job");
  Facts facts{view, inputs};
  end_job(facts, view, *job, {Category::cancelled, reason, false}, inputs);
  return accept(facts, JobReply{view.id, command.job_id, JobStatus::cancelled, 0});
}

namespace {

// Refuses to start an ended job again.
std::optional<Error> not_reopened(const Session& view, const JobRecord& known,
                                  const Inputs& inputs) {
  if (known.status == JobStatus::cancelled)
    return Error{Code::conflict,
                 fmt::format("job {} is cancelled: its items cannot be retried; create another job",
                             known.ids.job.text()),
                 R"({"status":"cancelled"})"};
  const state::Task* task = task_of(inputs, known.ids.task);
  if (!task)
    return Error{Code::not_found, fmt::format("there is no task {}", known.ids.task.text()), {}};
  if (auto error = needs_approver(task->constraints, inputs)) return error;
  if (auto error = beneath_cancelled(task, inputs)) return error;
  if (task->current_run_id ||
      !(retryable_end(task->status) || task->status == TaskStatus::retrying))
    return wrong_state(*task, "retried");
  return too_many_jobs(view, *inputs.settings);
}

}  // namespace

Decided retry_job_item(const Session& view, const RetryJobItem& command, Inputs inputs) {
  const state::Job* running = find_job(view, command.job_id);
  if (!running && !inputs.named.job) return no_job(command.job_id);
  const JobRecord& known = running ? running->record : *inputs.named.job;
  if (running && is_busy(view, *running, command.job_item_id))
    return not_failed(command.job_item_id, JobItemStatus::running);
  if (!inputs.named.job_item && known.cursor.line == known.items)
    return refuse(
        Code::not_found,
        fmt::format("job {} has no item {}: agentrt jobs {} --status failed lists those "
                    "that can be retried",
                    known.ids.job.text(), command.job_item_id.text(), known.ids.job.text()));
  // Only started items have a row; the others are lines of the input, which is not read here.
  if (!inputs.named.job_item)
    return refuse(
        Code::conflict,
        fmt::format("job {} has not started an item {}: only a failed item can be retried",
                    known.ids.job.text(), command.job_item_id.text()),
        R"({"status":"pending"})");
  const JobItemRecord& item = *inputs.named.job_item;
  if (item.status != JobItemStatus::failed) return not_failed(command.job_item_id, item.status);
  if (state::is_redone(known, item.first) && running)
    return not_failed(command.job_item_id, JobItemStatus::pending);
  if (running && running->waiting.size() >= state::kWaitingItemsMax)
    return refuse(Code::limit_exceeded,
                  fmt::format("{} items of the job wait for another attempt: try again later",
                              running->waiting.size()));
  if (!running)
    if (auto error = not_reopened(view, known, inputs)) return *error;

  Facts facts{view, inputs};
  JobIds ids = known.ids;
  const std::string reason = command.reason.value_or("retry_job_item");
  if (!running) {
    const state::Task& task = *task_of(inputs, known.ids.task);
    if (task.status != TaskStatus::retrying)
      facts.add(TaskScope{inputs.session, task.task_id},
                TaskRetrying{.reason = reason,
                             .previous_status = task.status,
                             .worker = TaskWorker{WorkerKind::job, {}, known.ids.job, {}}});
    ids = reopen(facts, known, task, reason, false, inputs);
  }
  const bool denied = item.last_error && item.last_error->category == Category::denied;
  facts.add(JobScope{inputs.session, ids, command.job_item_id},
            JobProgress{.counts = {},
                        .item_status = JobItemStatus::pending,
                        .item = item,
                        .reason = command.reason,
                        .judge_again = denied ? std::optional(true) : std::nullopt,
                        .redo_ended = {}});
  return accept(facts, RetryJobItemReply{.session_id = view.id,
                                         .job_id = command.job_id,
                                         .job_item_id = command.job_item_id,
                                         .status = JobItemStatus::pending,
                                         .attempt_count = item.attempt_count,
                                         .sequence = 0});
}

}  // namespace agentrt::control
