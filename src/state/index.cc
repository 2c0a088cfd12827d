#include "state/index.h"

#include <concepts>
#include <variant>

#include "schema/forks.h"
#include "schema/outputs.h"
#include "state/read_models.h"
#include "state/rollbacks.h"

namespace agentrt::state {
namespace {

using namespace schema;

ObjectRow session_row(const Session& session) {
  return {.kind = "session",
          .id = session.id.text(),
          .parent = {},
          .first = 1,
          .status = std::string(name_of(overall_status(session))),
          .open = false,
          .record = to_json(session_summary(session)),
          .changed = session.sequence};
}

ObjectRow turn_row(const Turn& turn) {
  return {.kind = "turn",
          .id = turn.ids.turn.text(),
          .parent = turn.ids.thread.text(),
          .first = turn.submitted,
          .status = std::string(name_of(turn.status)),
          .open = !ended(turn.status),
          .record = to_json(turn_snapshot(turn))};
}

// A thread that has left the view. It answers get_thread_read from now on.
ObjectRow closed_thread_row(const Session& session, const Thread& thread, const Fact& fact) {
  return {.kind = std::string(kThreadKind),
          .id = thread_row_id(session.id, thread.id),
          .parent = {},
          .first = fact.sequence,
          .status = std::string(kThreadClosed),
          .open = false,
          .record = to_json(thread_read(session, thread))};
}

// An attempt that has left the record of its task.
ObjectRow attempt_row(const TaskId& task, const TaskAttempt& attempt) {
  return {.kind = std::string(kAttemptKind),
          .id = attempt.attempt_id.text(),
          .parent = task.text(),
          .first = attempt.first,
          .status = std::string(name_of(attempt.status)),
          .open = false,
          .record = to_json(attempt)};
}

ObjectRow process_row(const Process& process) {
  return {.kind = std::string(kProcessKind),
          .id = process.id.text(),
          .parent = process.turn.thread.text(),
          .first = process.first,
          .status = std::string(name_of(process.status)),
          .open = !process.ended_at,
          .record = to_json(process_snapshot(process))};
}

// The background process whose row the fact changes: it started, was asked to terminate, or ended.
const Process* process_changed(const Session& session, const Fact& fact) {
  if (const auto* input = std::get_if<ProcessInput>(&fact.payload); input && !input->signal)
    return nullptr;
  if (std::holds_alternative<ProcessStarted>(fact.payload) ||
      std::holds_alternative<ProcessInput>(fact.payload)) {
    const auto open = session.processes.find(fact.ids.process_id);
    return open == session.processes.end() ? nullptr : &open->second;
  }
  const bool ends = std::holds_alternative<ProcessCompleted>(fact.payload) ||
                    std::holds_alternative<ProcessFailed>(fact.payload) ||
                    std::holds_alternative<ProcessTerminated>(fact.payload);
  const auto& ended = session.ended_process;
  return ends && ended && ended->id == fact.ids.process_id ? &*ended : nullptr;
}

ObjectRow subagent_row(const Session& session, const Subagent& subagent) {
  return {.kind = std::string(kSubagentKind),
          .id = subagent.id.text(),
          .parent = subagent.parent.text(),
          .first = subagent.first,
          .status = std::string(name_of(subagent.status)),
          .open = false,  // the rows of its turns represent the open work
          .record = to_json(subagent_snapshot(session, subagent))};
}

// The subagent that the fact is about.
const Subagent* subagent_changed(const Session& session, const Fact& fact) {
  if (fact.ids.subagent_id.empty()) return nullptr;
  if (const Subagent* open = find_subagent(session, fact.ids.subagent_id)) return open;
  const auto& closed = session.closed_subagent;
  return closed && closed->id == fact.ids.subagent_id ? &*closed : nullptr;
}

// A call, so that it is found by its id: the fact at `first` says where it belongs.
ObjectRow tool_call_row(const Fact& fact) {
  return {.kind = std::string(kToolCallKind),
          .id = fact.ids.tool_call_id.text(),
          .parent = {},
          .first = fact.sequence,
          .status = "started",
          .open = false,
          .record = "{}"};
}

// The newest version of a file, and the version itself. The same file has the same id in every
// session, so the ids of both rows begin with the session.
std::vector<ObjectRow> artifact_rows(const Session& session, const ArtifactChanged& changed,
                                     const Fact& fact) {
  const std::string artifact = fact.ids.artifact_id.text();
  const std::string id = session.id.text() + "/" + artifact;
  const ArtifactRecord record{.artifact_id = fact.ids.artifact_id,
                              .path = changed.path,
                              .change = changed.change,
                              .version_id = changed.version_id,
                              .previous_id = changed.previous_id,
                              .diff_ref = changed.diff_ref,
                              .lines_added = changed.lines_added,
                              .lines_removed = changed.lines_removed,
                              .thread_id = fact.ids.thread_id,
                              .turn_id = fact.ids.turn_id,
                              .tool_call_id = fact.ids.tool_call_id,
                              .sequence = fact.sequence,
                              .at = fact.at,
                              .previous_ref = changed.previous_ref};
  const ObjectRow newest{.kind = std::string(kArtifactKind),
                         .id = id,
                         .parent = {},
                         .first = fact.sequence,
                         .status = changed.change.value_or("update"),
                         .open = false,
                         .record = to_json(record),
                         .terms = {artifact_term(artifact)}};
  ObjectRow version = newest;
  version.kind = kVersionKind;
  version.id += "/" + std::to_string(fact.sequence);
  version.parent = id;
  version.terms.clear();
  return {newest, version};
}

// Whether the fact changes the session's row, besides processes and jobs. Everything counts that
// can change its status: a list that still said waiting_permission after the answer would call a
// person for nothing.
bool sessions_row_changes(const Payload& payload) {
  if (const auto* queue = std::get_if<QueueChanged>(&payload))
    return queue->change == QueueChange::started;
  return std::visit(
      []<class P>(const P&) {
        return std::is_same_v<P, SessionCreated> || std::is_same_v<P, SessionUpdated> ||
               std::is_same_v<P, ThreadStarted> || std::is_same_v<P, ThreadUpdated> ||
               std::is_same_v<P, TurnSubmitted> || std::is_same_v<P, TurnStarted> ||
               std::is_same_v<P, RunStatus> || std::is_same_v<P, TaskResumed> ||
               std::is_same_v<P, TurnCompleted> || std::is_same_v<P, TurnFailed>;
      },
      payload);
}

// Whether the fact changes the turn's row.
bool turns_row_changes(const Payload& payload) {
  return std::visit(
      []<class P>(const P&) {
        return std::is_same_v<P, RunStatus> || std::is_same_v<P, TurnSubmitted> ||
               std::is_same_v<P, TurnStarted> || std::is_same_v<P, TaskResumed> ||
               std::is_same_v<P, TurnCompleted> || std::is_same_v<P, TurnFailed>;
      },
      payload);
}

// An output's row is derived from the fact alone, because views do not contain outputs.
ObjectRow output_row(const OutputSpilled& spilled, const Fact& fact) {
  const OutputRecord record{.output_ref = spilled.output_ref,
                            .size = spilled.size,
                            .digest = spilled.digest.value_or(""),
                            .media_type = spilled.media_type,
                            .encoding = spilled.encoding,
                            .truncated = spilled.truncated,
                            .redacted = spilled.redacted,
                            .spilled_at = fact.at,
                            .expires_at = spilled.expires_at};
  return {.kind = std::string(kOutputKind),
          .id = spilled.output_ref,
          .parent = {},
          .first = fact.sequence,
          .status = std::string(kOutputKept),
          .open = false,
          .record = to_json(record)};
}

ObjectRow expired_row(const OutputExpired& expired, const Fact& fact) {
  OutputRecord record;
  record.output_ref = expired.output_ref;
  record.size = expired.size.value_or(0);
  record.digest = expired.digest.value_or("");
  return {.kind = std::string(kOutputKind),
          .id = expired.output_ref,
          .parent = {},
          .first = expired.spilled_sequence.value_or(fact.sequence),
          .status = std::string(kOutputExpired),
          .open = false,
          .record = to_json(record)};
}

ObjectRow action_row(const ActionSnapshot& action, Sequence first) {
  return {
      .kind = std::string(kActionKind),
      .id = action.action_id.text(),
      .parent = action.thread_id.text(),
      .first = first,
      .status = action.status,
      .open = !action.decision.has_value(),
      .record = to_json(action),
      .terms = action.decision ? std::vector<std::string>{} : std::vector{std::string(kOpenTerm)}};
}

std::optional<ObjectRow> resolved_row(const Session& session, const ActionResolved& p,
                                      const Fact& fact) {
  const Turn* turn = find_turn(session, fact.ids.turn_id);
  if (!turn || !turn->resolved || turn->resolved->id != fact.ids.action_id) return std::nullopt;
  ActionSnapshot action = action_snapshot(session, *turn, *turn->resolved);
  action.status = "resolved";
  action.decision = p.decision;
  action.decision_source = p.decision_source;
  action.answered_by = p.answered_by;
  action.resolved_at = fact.at;
  return action_row(action, turn->resolved->sequence);
}

ObjectRow grant_row(const Session& session, const PolicyChanged& changed, const PolicyRule& rule,
                    std::string_view status, const Fact& fact) {
  return {.kind = std::string(kGrantKind),
          .id = session.id.text() + " " + rule.rule + (rule.cwd ? " in " + *rule.cwd : ""),
          .parent = {},
          .first = fact.sequence,
          .status = std::string(status),
          .open = false,
          .record = to_json(GrantRecord{changed.workspace.value_or(session.cwd), rule, fact.at})};
}

// Rows that apply beyond the session: rules and the mode of a whole workspace, and trust.
std::vector<ObjectRow> policy_rows(const Session& session, const PolicyChanged& p,
                                   const Fact& fact) {
  std::vector<ObjectRow> rows;
  // A resolved policy removes what was withdrawn elsewhere: that has its row.
  for (const PolicyRule& rule : p.removed.value_or(std::vector<PolicyRule>{}))
    if (rule.origin == RuleOrigin::always && !p.policy)
      rows.push_back(grant_row(session, p, rule, kWithdrawn, fact));
  for (const PolicyRule& rule : p.added.value_or(std::vector<PolicyRule>{}))
    if (rule.origin == RuleOrigin::always)
      rows.push_back(grant_row(session, p, rule, kInForce, fact));
  if (!p.workspace) return rows;
  if (p.mode)
    rows.push_back({.kind = std::string(kFolderModeKind),
                    .id = *p.workspace,
                    .parent = {},
                    .first = fact.sequence,
                    .status = std::string(kInForce),
                    .open = false,
                    .record = to_json(FolderModeRecord{*p.workspace, *p.mode})});
  for (const PolicyFile& file : p.files.value_or(std::vector<PolicyFile>{}))
    rows.push_back({.kind = std::string(kTrustKind),
                    .id = session.id.text() + " " + file.path,
                    .parent = {},
                    .first = fact.sequence,
                    .status = std::string(file.trusted ? kInForce : kWithdrawn),
                    .open = false,
                    .record = to_json(
                        TrustRecord{*p.workspace, file.path, file.digest, fact.at, file.effects})});
  return rows;
}

ObjectRow channel_row(const Session& session, const Channel& channel, bool open) {
  ChannelSnapshot record = channel_snapshot(session.id, channel);
  if (!open) record.status = ChannelStatus::closed;
  ObjectRow row{.kind = std::string(kChannelKind),
                .id = channel.id.text(),
                .parent = {},
                .first = channel.first,
                .status = std::string(name_of(record.status)),
                .open = false,  // a lost connection is found when the session is loaded
                .record = to_json(record)};
  if (!open) return row;
  row.terms = {std::string(kOpenTerm)};
  if (channel.token_id) row.terms.push_back(token_term(*channel.token_id));
  if (!channel.connected) row.terms.emplace_back(kDisconnectedTerm);
  return row;
}

ObjectRow peer_task_row(PeerTaskSnapshot task, const Fact& fact) {
  task.channel_id = fact.ids.channel_id;
  task.task_id = fact.ids.task_id;
  task.updated_at = fact.at;
  return {.kind = std::string(kPeerTaskKind),
          .id = peer_task_row_id(task.channel_id, task.task_id),
          .parent = task.channel_id.text(),
          .first = task.first_sequence,
          .status = task.recovery.value_or("linked"),
          .open = false,
          .record = to_json(task)};
}

// The rows that a fact about a channel changes; nullopt: it is about something else.
std::optional<std::vector<ObjectRow>> channel_rows(const Session& session, const Fact& fact) {
  if (const auto* linked = std::get_if<ChannelPeerTaskLinked>(&fact.payload)) {
    PeerTaskSnapshot task;
    task.native_protocol = linked->native_protocol;
    task.remote_task_id = linked->remote_task_id;
    task.remote_context_id = linked->remote_context_id;
    task.agent_card_ref = linked->agent_card_ref;
    task.first_sequence = fact.sequence;
    return std::vector{peer_task_row(std::move(task), fact)};
  }
  if (const auto* updated = std::get_if<ChannelPeerTaskUpdated>(&fact.payload)) {
    PeerTaskSnapshot task;
    task.native_protocol = updated->native_protocol;
    task.remote_task_id = updated->remote_task_id.value_or("");
    task.remote_context_id = updated->remote_context_id;
    task.agent_card_ref = updated->agent_card_ref;
    task.remote_status = updated->remote_status;
    task.recovery = updated->recovery;
    task.remote_artifact_refs = updated->remote_artifact_refs;
    task.error = updated->error;
    task.first_sequence = updated->linked_sequence.value_or(fact.sequence);
    return std::vector{peer_task_row(std::move(task), fact)};
  }
  const bool of_channel = std::visit(
      []<class P>(const P&) {
        if constexpr (requires { typename P::Scope; })
          return std::derived_from<typename P::Scope, ChannelScope>;
        else
          return false;
      },
      fact.payload);
  if (!of_channel) return std::nullopt;
  const auto open = session.channels.find(fact.ids.channel_id);
  if (open != session.channels.end()) return std::vector{channel_row(session, open->second, true)};
  const auto& closed = session.closed_channel;
  if (closed && closed->id == fact.ids.channel_id)
    return std::vector{channel_row(session, *closed, false)};
  return std::vector<ObjectRow>{};
}

ObjectRow job_row(const JobRecord& job) {
  const std::string status(name_of(job.status));
  return {.kind = std::string(kJobKind),
          .id = job.ids.job.text(),
          .parent = {},
          .first = job.first,
          .status = status,
          .open = job.status == JobStatus::running,
          .record = to_json(job),
          .terms = {"status=" + status}};
}

ObjectRow item_row(const JobItemRecord& item) {
  const std::string status(name_of(item.status));
  ObjectRow row{.kind = std::string(kJobItemKind),
                .id = job_item_row_id(item.job_id, item.at.id),
                .parent = item.job_id.text(),
                .first = item.first,
                .status = status,
                .open = false,  // the row of the job represents the open work
                .record = to_json(item)};
  // Most items are completed: lists of these are read from all items.
  if (item.status != JobItemStatus::completed)
    row.terms = {job_items_term(item.job_id, item.status)};
  return row;
}

// A fork within its session needs no row.
std::vector<ObjectRow> fork_rows(const Session& session, const ForkPoint& from, const Fact& fact) {
  if (from.session_id == session.id) return {};
  return {{.kind = std::string(kForkKind),
           .id = thread_row_id(session.id, fact.ids.thread_id),
           .parent = {},
           .first = fact.sequence,
           .status = "forked",
           .open = false,
           .record = "{}",
           .terms = {forks_term(from.session_id)}}};
}

// Rows that a fact about a job or an item changes.
std::vector<ObjectRow> job_rows(const Session& session, const Fact& fact) {
  std::vector<ObjectRow> rows;
  const auto running = session.jobs.find(fact.ids.job_id);
  const bool of_item = std::holds_alternative<JobItemStarted>(fact.payload) ||
                       std::holds_alternative<JobItemCompleted>(fact.payload) ||
                       std::holds_alternative<JobItemFailed>(fact.payload);
  if (running != session.jobs.end()) {
    const Job& job = running->second;
    if (job.changed && (of_item || !fact.ids.job_item_id.empty()))
      rows.push_back(item_row(*job.changed));
    if (!of_item) rows.push_back(job_row(job.record));
    if (std::holds_alternative<JobStarted>(fact.payload)) rows.push_back(session_row(session));
    return rows;
  }
  if (!session.ended_job || session.ended_job->record.ids.job != fact.ids.job_id) return rows;
  const Job& job = *session.ended_job;
  rows.push_back(job_row(job.record));
  rows.push_back(session_row(session));
  for (const WaitingItem& waiting : job.waiting) {
    JobItemRecord failed;
    failed.job_id = fact.ids.job_id;
    failed.at = waiting.item.at;
    failed.status = JobItemStatus::failed;
    failed.attempt_count = waiting.item.attempts;
    failed.last_error = waiting.last_error;
    failed.first = waiting.item.first;
    rows.push_back(item_row(failed));
  }
  return rows;
}

bool is_of_job(const Payload& payload) {
  return std::visit(
      []<class P>(const P&) {
        return std::is_same_v<P, JobCreated> || std::is_same_v<P, JobStarted> ||
               std::is_same_v<P, JobProgress> || std::is_same_v<P, JobItemStarted> ||
               std::is_same_v<P, JobItemCompleted> || std::is_same_v<P, JobItemFailed> ||
               std::is_same_v<P, JobCompleted> || std::is_same_v<P, JobFailed> ||
               std::is_same_v<P, JobCancelled>;
      },
      payload);
}

// Rows of objects other than turns; nullopt: the fact is about none of these.
std::optional<std::vector<ObjectRow>> own_rows(const Session& session, const Fact& fact) {
  if (auto rows = channel_rows(session, fact)) return rows;
  if (const auto* spilled = std::get_if<OutputSpilled>(&fact.payload))
    return std::vector{output_row(*spilled, fact)};
  if (const auto* expired = std::get_if<OutputExpired>(&fact.payload))
    return std::vector{expired_row(*expired, fact)};
  if (const auto* changed = std::get_if<PolicyChanged>(&fact.payload))
    return policy_rows(session, *changed, fact);
  if (const auto* started = std::get_if<ThreadStarted>(&fact.payload);
      started && started->forked_from)
    return fork_rows(session, *started->forked_from, fact);
  if (is_of_job(fact.payload)) return job_rows(session, fact);
  if (const auto* changed = std::get_if<ArtifactChanged>(&fact.payload))
    return artifact_rows(session, *changed, fact);
  // The row of an item represents its turn and its calls.
  if (std::holds_alternative<ToolStarted>(fact.payload) && fact.ids.job_item_id.empty())
    return std::vector{tool_call_row(fact)};
  if (auto boundary = boundary_row(session, fact)) {
    std::vector<ObjectRow> rows{*std::move(boundary)};
    if (std::holds_alternative<RollbackCompleted>(fact.payload))
      rows.push_back(session_row(session));
    return rows;
  }
  if (const Process* process = process_changed(session, fact))
    return std::vector{session_row(session), process_row(*process)};
  if (const Subagent* subagent = subagent_changed(session, fact))
    return std::vector{subagent_row(session, *subagent)};
  std::vector<ObjectRow> rows;
  if (std::holds_alternative<ActionRequired>(fact.payload)) {
    if (const Turn* waiting = turn_waiting_for(session, fact.ids.action_id))
      rows.push_back(
          action_row(action_snapshot(session, *waiting, *waiting->action), fact.sequence));
    return rows;
  }
  if (const auto* resolved = std::get_if<ActionResolved>(&fact.payload)) {
    if (auto row = resolved_row(session, *resolved, fact)) rows.push_back(*std::move(row));
    return rows;
  }
  return std::nullopt;
}

}  // namespace

std::string forks_term(const SessionId& source) { return "of=" + source.text(); }
std::string token_term(std::string_view token) { return "token=" + std::string(token); }

std::string peer_task_row_id(const ChannelId& channel, const TaskId& task) {
  return channel.text() + "/" + task.text();
}

std::string artifact_term(std::string_view artifact) { return "id=" + std::string(artifact); }

std::string thread_row_id(const SessionId& session, const ThreadId& thread) {
  return session.text() + "/" + thread.text();
}

std::vector<ObjectRow> index(const Session& session, const Fact& fact, RowUse use) {
  if (auto rows = own_rows(session, fact)) return *std::move(rows);
  std::vector<ObjectRow> rows;
  const auto* updated = std::get_if<ThreadUpdated>(&fact.payload);
  if (updated && session.closed_thread && session.closed_thread->id == fact.ids.thread_id &&
      !session.threads.contains(fact.ids.thread_id))
    return {session_row(session), closed_thread_row(session, *session.closed_thread, fact)};
  const bool turn_changes = turns_row_changes(fact.payload);
  const Thread* thread = find_thread(session, fact.ids.thread_id);
  const Turn* turn = turn_changes && thread ? find_turn(*thread, fact.ids.turn_id) : nullptr;
  // A turn that ends while queued does not change the session's row.
  const bool waited = turn && ended(turn->status) && (!thread->last || turn != &*thread->last);
  if (use == RowUse::store && sessions_row_changes(fact.payload) && !waited)
    rows.push_back(session_row(session));
  // The row of an item represents its turn.
  if (turn && fact.ids.job_item_id.empty()) rows.push_back(turn_row(*turn));
  return rows;
}

std::vector<ObjectRow> task_rows(const Tasks& tasks, const TaskChanges& changes) {
  std::vector<ObjectRow> rows;
  for (const TaskId& id : changes.tasks) {
    const Task& task = *tasks.find(id);
    rows.push_back({.kind = std::string(kTaskKind),
                    .id = task.task_id.text(),
                    .parent = {},
                    .first = task.first,
                    .status = std::string(name_of(task.status)),
                    .open = continues(task),
                    .record = encode(task),
                    .terms = terms_of(task),
                    .due = due_of(task)});
  }
  for (const auto& [task, attempt] : changes.set_aside) rows.push_back(attempt_row(task, attempt));
  return rows;
}

}  // namespace agentrt::state
