// schema/snapshots.h: the read models that clients get.
//
// A snapshot is derived from the log up to `asOfSequence`. A part that this runtime does not record
// is marked explicitly with an honesty word (not_applicable). The session snapshot is valid under
// the snapshot schema of the public draft, which has fewer status words for threads and attempts;
// `statusDetail` and `nativeStatus` hold our full word.
#pragma once

#include "schema/action_snapshot.h"
#include "schema/channels.h"
#include "schema/facts/routing.h"
#include "schema/jobs.h"
#include "schema/process_snapshot.h"
#include "schema/rollback.h"
#include "schema/subagent_snapshot.h"
#include "schema/task_snapshot.h"
#include "schema/turn_snapshot.h"
#include "schema/values.h"

namespace agentrt::schema {

BOOST_DEFINE_ENUM_CLASS(Honesty, unknown, unavailable, not_applicable, stale, blocked)

struct QueuedTurnSnapshot {
  TurnId turn_id;
  TaskId task_id;
  std::uint64_t position = 0;
  std::string input_preview;
  std::string source;
  Timestamp submitted_at;

  bool operator==(const QueuedTurnSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(QueuedTurnSnapshot, (),
                      (turn_id, task_id, position, input_preview, source, submitted_at))

// A problem that the user may want to see.
struct Incident {
  Sequence sequence = 0;
  Timestamp at;
  std::string kind;  // model_failed, turn_failed, restart, warning, error
  std::string message;
  TurnId turn_id;

  bool operator==(const Incident&) const = default;
};
BOOST_DESCRIBE_STRUCT(Incident, (), (sequence, at, kind, message, turn_id))

struct Outcome {
  TurnId turn_id;
  Status status = Status::completed;
  std::optional<std::string> reason;
  Timestamp at;

  bool operator==(const Outcome&) const = default;
};
BOOST_DESCRIBE_STRUCT(Outcome, (), (turn_id, status, reason, at))

// A part of a snapshot that this runtime does not record, and why.
struct EmptySummary {
  Honesty status = Honesty::not_applicable;

  bool operator==(const EmptySummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(EmptySummary, (), (status))

struct ThreadSnapshot {
  ThreadId thread_id;
  PublicStatus status = PublicStatus::idle;
  Status status_detail = Status::idle;
  std::optional<std::string> status_reason;
  std::optional<bool> resumable;
  std::optional<TurnId> active_turn_id;
  std::vector<TurnSnapshot> turns;  // the running turn and the one that ended last
  std::vector<ActionSnapshot> pending_requests;
  std::vector<QueuedTurnSnapshot> queued_turns;
  std::vector<SubagentSnapshot> subagents;  // its descendants that are not closed
  std::vector<Incident> incidents;
  EmptySummary evidence_summary;
  std::optional<Outcome> last_outcome;
  std::optional<ForkPoint> forked_from;
  std::optional<ContextBoundary> context_boundary = {};
};
BOOST_DESCRIBE_STRUCT(ThreadSnapshot, (),
                      (thread_id, status, status_detail, status_reason, resumable, active_turn_id,
                       turns, pending_requests, queued_turns, subagents, incidents,
                       evidence_summary, last_outcome, forked_from, context_boundary))

struct TaskSummary {
  std::uint64_t active = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;

  bool operator==(const TaskSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(TaskSummary, (), (active, completed, failed, cancelled))

struct RoutingLimitSummary {
  std::optional<std::uint64_t> candidate_count;
  std::optional<bool> single_candidate;
  std::optional<std::string> selected_provider;
  std::optional<std::string> selected_model;
  std::optional<std::string> decision_reason;
  Honesty limit_state = Honesty::not_applicable;

  bool operator==(const RoutingLimitSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(RoutingLimitSummary, (),
                      (candidate_count, single_candidate, selected_provider, selected_model,
                       decision_reason, limit_state))

struct TelemetrySummary {
  std::vector<TraceId> trace_ids;  // of the newest turns
  // joined: each of these turns has a trace, and each of its requests, calls, processes and hooks a
  // span of its own; missing_correlation: those of `missing` have not; not_applicable: no turns.
  std::string join_status = "not_applicable";
  std::optional<std::vector<TurnId>> missing;
};
BOOST_DESCRIBE_STRUCT(TelemetrySummary, (), (trace_ids, join_status, missing))

// The reply to get_session. `history` is a window of turns, newest first.
struct SessionSnapshot {
  std::string schema_version;
  RuntimeId runtime_id;
  SessionId session_id;
  std::optional<std::string> title;
  std::string cwd;
  std::optional<std::vector<std::string>> additional_roots;
  std::optional<Json> metadata;
  bool archived = false;
  Status status = Status::idle;
  Timestamp created_at;
  Timestamp updated_at;
  // The open threads, and a window of the others, newest first.
  std::vector<ThreadSnapshot> threads;
  std::uint64_t thread_count = 0;
  std::optional<std::string> threads_cursor;  // of older threads that are not open
  std::vector<TaskSnapshot> tasks;            // of running and queued turns
  TaskSummary task_summary;
  std::vector<ProcessSnapshot> processes;   // running in the background
  std::vector<JobSummary> jobs;             // running and queued
  std::vector<SubagentSnapshot> subagents;  // not closed
  ChannelSummary channel_summary;
  RoutingLimitSummary routing_limit_summary;
  TelemetrySummary telemetry_summary;
  std::vector<std::string> evidence_refs;
  std::optional<ForkPoint> forked_from = {};  // if it began as a fork of a thread elsewhere
  // Of the thread that was compacted last, of those in `threads`.
  std::optional<ContextBoundary> context_boundary = {};
  std::vector<Json> history;  // TurnSnapshot objects, as stored in the index
  std::optional<std::string> history_cursor;
  GenerationId generation;
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(SessionSnapshot, (),
                      (schema_version, runtime_id, session_id, title, cwd, additional_roots,
                       metadata, archived, status, created_at, updated_at, threads, thread_count,
                       threads_cursor, tasks, task_summary, processes, jobs, subagents,
                       channel_summary, routing_limit_summary, telemetry_summary, evidence_refs,
                       forked_from, context_boundary, history, history_cursor, generation,
                       as_of_sequence))

struct Diagnostics {
  std::uint64_t turns = 0;          // submitted to the thread in total
  std::uint64_t unknown_facts = 0;  // in the session, of types that this build does not know
  std::optional<std::uint64_t> model_requests;  // of the running turn
  std::optional<Timestamp> retry_at;
};
BOOST_DESCRIBE_STRUCT(Diagnostics, (), (turns, unknown_facts, model_requests, retry_at))

// The reply to get_thread_read.
struct ThreadRead {
  SessionId session_id;
  ThreadId thread_id;
  Status status = Status::idle;
  std::optional<std::string> status_reason;
  std::optional<bool> resumable;
  // The id of the turn that can be resumed; resume_thread accepts it to resume only that turn.
  std::optional<std::string> resume_token;
  std::optional<TurnId> active_turn_id;
  std::optional<TurnSnapshot> active_turn;
  std::vector<ActionSnapshot> pending_requests;
  std::vector<QueuedTurnSnapshot> queued_turns;
  std::optional<Outcome> last_outcome;
  std::vector<Incident> incidents;
  std::vector<TaskSnapshot> tasks;
  // Running and queued jobs: the one whose items run on this thread; on any other thread, those of
  // its tasks and of tasks without a thread.
  std::vector<JobSummary> jobs;
  std::vector<SubagentSnapshot> subagents;  // its descendants that are not closed
  std::optional<ForkPoint> forked_from;
  std::optional<ContextBoundary> context_boundary = {};
  Diagnostics diagnostics;
  GenerationId generation;
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(ThreadRead, (),
                      (session_id, thread_id, status, status_reason, resumable, resume_token,
                       active_turn_id, active_turn, pending_requests, queued_turns, last_outcome,
                       incidents, tasks, jobs, subagents, forked_from, context_boundary,
                       diagnostics, generation, as_of_sequence))

// One row of list_sessions.
struct SessionSummary {
  SessionId session_id;
  std::optional<std::string> title;
  std::string cwd;
  Status status = Status::idle;
  bool archived = false;
  std::uint64_t threads = 0;
  std::uint64_t turns = 0;
  std::optional<std::uint64_t> processes;  // running in the background; absent if none
  std::optional<std::string> preview;      // the start of its newest turn
  Timestamp created_at;
  Timestamp updated_at;
  std::optional<Json> metadata;
};
BOOST_DESCRIBE_STRUCT(SessionSummary, (),
                      (session_id, title, cwd, status, archived, threads, turns, processes, preview,
                       created_at, updated_at, metadata))

}  // namespace agentrt::schema
