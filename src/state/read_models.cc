#include "state/read_models.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "schema/envelope.h"

namespace agentrt::state {
namespace {

using namespace schema;

TaskStatus task_status(const Turn& turn) {
  switch (turn.status) {
    case Status::accepted:
      return TaskStatus::accepted;
    case Status::queued:
      return TaskStatus::queued;
    case Status::preparing:
      return TaskStatus::preparing;
    case Status::running:
    case Status::streaming:
      return TaskStatus::running;
    case Status::waiting_input:
      return TaskStatus::waiting_input;
    case Status::waiting_permission:
      return TaskStatus::waiting_permission;
    case Status::waiting_resource:
      return TaskStatus::waiting_resource;
    case Status::blocked:
      return TaskStatus::blocked;
    case Status::retrying:
      return TaskStatus::retrying;
    case Status::lost:
      return TaskStatus::lost;
    case Status::timed_out:
      return TaskStatus::timed_out;
    case Status::completed:
      return TaskStatus::completed;
    case Status::failed:
      return TaskStatus::failed;
    case Status::cancelled:
      return TaskStatus::cancelled;
    case Status::stale:
      return TaskStatus::stale;
    case Status::idle:
      return TaskStatus::unknown;  // only threads have this status
  }
  return TaskStatus::unknown;
}

std::vector<QueuedTurnSnapshot> queued_turns(const Thread& thread) {
  std::vector<QueuedTurnSnapshot> out;
  out.reserve(thread.queue.size());
  for (const Turn& turn : thread.queue)
    out.push_back({turn.ids.turn, turn.ids.task, out.size() + 1, turn.preview, turn.source,
                   turn.submitted_at});
  return out;
}

std::optional<Outcome> last_outcome(const Thread& thread) {
  if (!thread.last) return std::nullopt;
  const Turn& turn = *thread.last;
  return Outcome{turn.ids.turn, turn.status, turn.reason,
                 turn.ended_at.value_or(turn.submitted_at)};
}

// The running task and the first queued ones; task_summary counts them all.
std::vector<TaskSnapshot> open_tasks(const SessionId& session, const Thread& thread) {
  constexpr std::size_t kWaitingTasksMax = 20;
  std::vector<TaskSnapshot> out;
  // The task of an item is that of its job, not of its turn.
  if (thread.active && !thread.active->item) out.push_back(task_snapshot(session, *thread.active));
  for (std::size_t i = 0; i < std::min(thread.queue.size(), kWaitingTasksMax); ++i)
    out.push_back(task_snapshot(session, thread.queue[i]));
  return out;
}

std::optional<TurnId> active_turn_id(const Thread& thread) {
  return thread.active ? std::optional(thread.active->ids.turn) : std::nullopt;
}

void add_request(const Session& session, const Thread& thread, std::vector<ActionSnapshot>& out) {
  if (thread.active && thread.active->action)
    out.push_back(action_snapshot(session, *thread.active, *thread.active->action));
}

// The subagents below the thread: each child is followed by its own.
void add_descendants(const Session& session, const ThreadId& thread,
                     std::vector<const Subagent*>& out) {
  for (const Subagent* child : children_of(session, thread)) {
    out.push_back(child);
    add_descendants(session, child->thread, out);
  }
}

// The request of the thread's own turn, then those of the subagents below it.
std::vector<ActionSnapshot> pending_requests(const Session& session, const Thread& thread) {
  std::vector<ActionSnapshot> out;
  add_request(session, thread, out);
  std::vector<const Subagent*> below;
  add_descendants(session, thread.id, below);
  for (const Subagent* subagent : below)
    if (const Thread* own = find_thread(session, subagent->thread)) add_request(session, *own, out);
  return out;
}

std::vector<SubagentSnapshot> subagents_below(const Session& session, const ThreadId& thread) {
  std::vector<const Subagent*> below;
  add_descendants(session, thread, below);
  std::vector<SubagentSnapshot> out;
  for (const Subagent* subagent : below) out.push_back(subagent_snapshot(session, *subagent));
  return out;
}

// The compaction that is in force.
std::optional<ContextBoundary> boundary_of(const Thread& thread) {
  return thread.boundaries.empty() ? std::nullopt : std::optional(thread.boundaries.back());
}

}  // namespace

std::string log_ref(Sequence sequence) { return fmt::format("log:{}", sequence); }
Sequence sequence_in(const std::optional<std::string>& ref) {
  constexpr std::string_view kPrefix = "log:";
  if (!ref || !ref->starts_with(kPrefix)) return 0;
  Sequence sequence = 0;
  std::from_chars(ref->data() + kPrefix.size(), ref->data() + ref->size(), sequence);
  return sequence;
}
std::string log_ref(Sequence first, Sequence last) { return fmt::format("log:{}-{}", first, last); }

ActionSnapshot action_snapshot(const Session& session, const Turn& turn, const Action& action) {
  const ActionRequired& required = action.required;
  ActionSnapshot out;
  out.action_id = action.id;
  out.session_id = session.id;
  out.thread_id = turn.ids.thread;
  out.turn_id = turn.ids.turn;
  out.tool_call_id = action.call;
  if (const Subagent* asks = subagent_of(session, turn.ids.thread)) {
    out.subagent_id = asks->id;
    out.subagent = asks->nickname.value_or(asks->role);
  }
  out.status = "open";
  out.sequence = action.sequence;
  out.action_type = required.action_type;
  out.prompt = required.prompt;
  out.schema = required.schema;
  out.decisions = required.decisions;
  out.digest = required.digest;
  out.scopes = required.scopes;
  out.rules = required.rules;
  out.tool_name = required.tool_name;
  out.input = required.input;
  out.cwd = required.cwd;
  out.reason = required.reason;
  out.sandbox = required.sandbox;
  out.outside_sandbox = required.outside_sandbox;
  out.user = required.user;
  out.network = required.network;
  out.subcommands = required.subcommands;
  out.destructive = required.destructive;
  out.impact = required.impact;
  out.rollback = required.rollback;
  out.server = required.server;
  out.url = required.url;
  out.executes = required.executes;
  out.executes_unknown = required.executes_unknown;
  out.chain = action.chain;
  out.files = required.files;
  out.expires_at = required.expires_at;
  out.required_at = action.at;
  return out;
}

TurnSnapshot turn_snapshot(const Turn& turn) {
  TurnSnapshot out;
  out.turn_id = turn.ids.turn;
  out.thread_id = turn.ids.thread;
  out.task_id = turn.ids.task;
  out.run_id = turn.ids.run;
  out.attempt_id = turn.ids.attempt;
  out.trace_id = turn.ids.trace;
  out.status = turn.status;
  out.reason = turn.reason;
  out.resumable = turn.resumable;
  out.input_preview = turn.preview;
  out.input_ref = log_ref(turn.submitted);
  out.output_preview = turn.answer_preview;
  if (turn.answer > 0) out.output_ref = log_ref(turn.answer);
  out.provider = turn.provider;
  out.model = turn.model;
  out.model_requests = turn.requests;
  if (turn.requests > 0) out.usage = turn.usage;
  out.error = turn.error;
  out.submitted_at = turn.submitted_at;
  out.started_at = turn.started_at;
  out.completed_at = turn.ended_at;
  out.first_sequence = turn.submitted;
  out.source = turn.source;
  if (turn.end_sequence > 0) out.last_sequence = turn.end_sequence;
  return out;
}

TaskSnapshot task_snapshot(const SessionId& session, const Turn& turn) {
  TaskSnapshot out;
  out.task_id = turn.ids.task;
  out.session_id = session;
  out.thread_id = turn.ids.thread;
  out.turn_id = turn.ids.turn;
  out.objective = turn.preview;
  out.task_kind = "turn";
  out.visibility = turn.visibility;
  out.status = task_status(turn);
  out.status_reason = turn.reason;
  out.current_run_id = turn.ids.run;
  if (turn.started_at) {
    AttemptSnapshot attempt;
    attempt.run_id = turn.ids.run;
    attempt.attempt_id = turn.ids.attempt;
    attempt.status = public_status(turn.status);
    attempt.native_status = turn.status;
    attempt.started_at = turn.started_at;
    attempt.ended_at = turn.ended_at;
    attempt.last_error = turn.error;
    out.attempts.push_back(std::move(attempt));
  }
  out.created_at = turn.submitted_at;
  out.ended_at = turn.ended_at;
  return out;
}

AttemptSnapshot attempt_snapshot(const TaskAttempt& attempt) {
  AttemptSnapshot out;
  out.run_id = attempt.run_id;
  out.attempt_id = attempt.attempt_id;
  out.status = public_status(attempt.status);
  out.native_status = attempt.status;
  out.attempt_count = attempt.attempt_count;
  out.worker = attempt.worker;
  out.turn_id = attempt.turn_id;
  out.started_at = attempt.started_at;
  out.ended_at = attempt.ended_at;
  out.last_error = attempt.last_error;
  out.completion_summary = attempt.completion_summary;
  out.output_refs = attempt.output_refs;
  return out;
}

TaskSnapshot task_snapshot(const SessionId& session, const Task& task) {
  TaskSnapshot out;
  out.task_id = task.task_id;
  out.session_id = session;
  out.parent_task_id = task.parent_task_id;
  out.thread_id = task.thread_id;
  if (!out.thread_id && !task.attempts.empty())
    out.thread_id = task.attempts.back().worker.thread_id;
  out.turn_id = task.turn_id;
  out.title = task.title;
  out.objective = task.objective;
  out.task_kind = task.task_kind;
  out.task_family = task.task_family;
  out.visibility = task.visibility;
  out.status = task.status;
  out.status_reason = task.status_reason;
  out.priority = task.priority;
  out.requested_by = task.requested_by;
  out.owner = task.owner;
  out.assignee = task.assignee;
  out.scope = task.scope;
  out.constraints = task.constraints;
  out.task_profile = task.task_profile;
  out.acceptance = task.acceptance;
  out.missing = task.missing;
  out.retry_policy = task.retry_policy;
  out.progress = task.progress;
  out.current_run_id = task.current_run_id;
  out.attempt_count = task.attempts_made;
  for (const TaskAttempt& attempt : task.attempts)
    out.attempts.push_back(attempt_snapshot(attempt));
  out.relationships.emplace();
  for (const TaskEdge& edge : task.edges)
    out.relationships->push_back({edge.relationship, edge.target_id, edge.name, edge.status,
                                  edge.reason, edge.created_at, edge.updated_at});
  if (auto blockers = blockers_of(task); !blockers.empty()) out.blockers = std::move(blockers);
  if (task.children > 0)
    out.children = ChildCounts{task.children, task.children_open, task.children_completed};
  out.artifacts = task.artifacts;
  out.output_refs = task.output_refs;
  out.evidence_refs = task.evidence_refs;
  if (task.delivery_state) out.delivery_state = DeliverySnapshot{*task.delivery_state};
  out.last_error = task.last_error;
  if (task.retry) out.retry_at = task.retry->at;
  if (task.deadline) out.deadline_at = task.deadline->at;
  out.created_at = task.created_at;
  out.updated_at = task.updated_at;
  out.started_at = task.started_at;
  out.ended_at = task.ended_at;
  return out;
}

ProcessSnapshot process_snapshot(const Process& process) {
  ProcessSnapshot out;
  out.process_id = process.id;
  out.thread_id = process.turn.thread;
  out.turn_id = process.turn.turn;
  out.tool_call_id = process.call;
  out.command = process.command;
  out.cwd = process.cwd;
  out.tty = process.tty;
  out.status = process.status;
  out.exit_code = process.exit_code;
  out.output_bytes = process.out_shown + process.err_shown;
  out.input_closed = process.input_closed;
  out.started_at = process.started_at;
  out.ended_at = process.ended_at;
  return out;
}

EnvironmentSnapshot environment_snapshot(const Session& session,
                                         const std::optional<ThreadId>& thread,
                                         const std::optional<BootId>& boot) {
  EnvironmentSnapshot out;
  out.session_id = session.id;
  const Thread* newest = thread ? find_thread(session, *thread) : nullptr;
  for (const auto& [_, each] : session.threads)
    if (!thread && (!newest || each.environment_at > newest->environment_at)) newest = &each;
  if (newest) {
    out.thread_id = newest->id;
    out.turn_id = newest->environment_turn;
    out.environment = newest->environment;
  }
  for (const auto& [_, process] : session.processes) {
    out.processes.push_back(process_snapshot(process));
    if (boot && process.boot != *boot) out.processes.back().status = ProcessStatus::unknown;
  }
  out.as_of_sequence = session.sequence;
  return out;
}

SessionSummary session_summary(const Session& session) {
  SessionSummary out;
  out.session_id = session.id;
  out.title = session.title;
  out.cwd = session.cwd;
  out.status = overall_status(session);
  out.archived = session.archived;
  out.threads = session.threads.size() + session.threads_closed;
  out.turns = session.turns;
  if (!session.processes.empty()) out.processes = session.processes.size();
  const Turn* newest = nullptr;
  for (const auto& [_, thread] : session.threads)
    for (const auto* turn : {&thread.active, &thread.last})
      if (*turn && !thread.subagent && (!newest || (*turn)->submitted > newest->submitted))
        newest = &**turn;
  if (newest) out.preview = newest->preview;
  out.created_at = session.created_at;
  out.updated_at = session.at;
  out.metadata = session.metadata;
  return out;
}

JobSummary job_summary(const SessionId& session, const JobRecord& job) {
  return {.session_id = session,
          .job_id = job.ids.job,
          .task_id = job.ids.task,
          .status = job.status,
          .runner = job.runner,
          .counts = job.counts,
          .items = job.items,
          .concurrency = job.concurrency,
          .input_ref = job.input_ref,
          .created_at = job.created_at,
          .started_at = job.started_at,
          .ended_at = job.ended_at,
          .reason = job.reason,
          .error = job.error};
}

ThreadSnapshot thread_snapshot(const Session& session, const Thread& thread) {
  ThreadSnapshot out;
  out.thread_id = thread.id;
  out.status = public_status(thread.status);
  out.status_detail = thread.status;
  out.status_reason = thread.reason;
  out.resumable = thread.resumable;
  out.active_turn_id = active_turn_id(thread);
  if (thread.active) out.turns.push_back(turn_snapshot(*thread.active));
  if (thread.last) out.turns.push_back(turn_snapshot(*thread.last));
  out.pending_requests = pending_requests(session, thread);
  out.queued_turns = queued_turns(thread);
  out.subagents = subagents_below(session, thread.id);
  out.incidents = thread.incidents;
  out.last_outcome = last_outcome(thread);
  if (thread.fork) out.forked_from = thread.fork->from;
  out.context_boundary = boundary_of(thread);
  return out;
}

namespace {

TelemetrySummary telemetry_summary(const Session& session) {
  TelemetrySummary out;
  std::vector<TurnId> missing;
  for (const TurnTrace& turn : session.traces) {
    out.trace_ids.push_back(turn.trace);
    if (!turn.joined) missing.push_back(turn.turn);
  }
  if (session.traces.empty()) return out;
  out.join_status = missing.empty() ? "joined" : "missing_correlation";
  if (!missing.empty()) out.missing = std::move(missing);
  return out;
}

}  // namespace

SessionSnapshot session_snapshot(const Session& session) {
  SessionSnapshot out;
  out.schema_version = kSchemaVersion;
  out.session_id = session.id;
  out.title = session.title;
  out.cwd = session.cwd;
  out.additional_roots = session.additional_roots;
  out.metadata = session.metadata;
  out.archived = session.archived;
  out.status = overall_status(session);
  out.created_at = session.created_at;
  out.updated_at = session.at;
  for (const auto& [_, thread] : session.threads) {
    out.threads.push_back(thread_snapshot(session, thread));
    for (TaskSnapshot& task : open_tasks(session.id, thread)) out.tasks.push_back(std::move(task));
  }
  out.thread_count = session.threads.size() + session.threads_closed;
  out.task_summary = session.tasks;
  if (session.forked) out.forked_from = session.forked->from;
  for (const auto& [_, thread] : session.threads)
    if (auto boundary = boundary_of(thread); boundary && !boundary->session_id)
      if (!out.context_boundary || boundary->sequence > out.context_boundary->sequence)
        out.context_boundary = std::move(boundary);
  for (const auto& [_, process] : session.processes)
    out.processes.push_back(process_snapshot(process));
  for (const auto& [_, job] : session.jobs) out.jobs.push_back(job_summary(session.id, job.record));
  for (const auto& [_, subagent] : session.subagents)
    out.subagents.push_back(subagent_snapshot(session, subagent));
  for (const auto& [_, channel] : session.channels)
    out.channel_summary.channels.push_back(channel_snapshot(session.id, channel));
  out.routing_limit_summary = session.routing;
  out.telemetry_summary = telemetry_summary(session);
  out.as_of_sequence = session.sequence;
  return out;
}

ThreadRead thread_read(const Session& session, const Thread& thread) {
  ThreadRead out;
  out.session_id = session.id;
  out.thread_id = thread.id;
  out.status = thread.status;
  out.status_reason = thread.reason;
  out.resumable = thread.resumable;
  out.active_turn_id = active_turn_id(thread);
  if (thread.active) {
    out.active_turn = turn_snapshot(*thread.active);
    if (thread.resumable.value_or(false)) out.resume_token = thread.active->ids.turn.text();
    out.diagnostics.model_requests = thread.active->requests;
    out.diagnostics.retry_at = thread.active->retry_at;
  }
  out.pending_requests = pending_requests(session, thread);
  out.queued_turns = queued_turns(thread);
  out.last_outcome = last_outcome(thread);
  out.incidents = thread.incidents;
  out.tasks = open_tasks(session.id, thread);
  out.subagents = subagents_below(session, thread.id);
  if (thread.fork) out.forked_from = thread.fork->from;
  out.context_boundary = boundary_of(thread);
  out.diagnostics.turns = thread.turns;
  out.diagnostics.unknown_facts = session.unknown_facts;
  out.as_of_sequence = session.sequence;
  return out;
}

}  // namespace agentrt::state
