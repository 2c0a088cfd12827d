// state/session.h: the session read model: the state of a session after a prefix of its facts.
//
// A Session is the left fold of one session's facts in sequence order. Live updates, restart and
// replay use the same function, so they cannot disagree. fold() is pure and total: it reads no
// clock, creates no id and cannot fail, because a fact in the log has already happened. An unknown
// fact type advances the sequence, is counted, and changes nothing else.
//
// A view is bounded: it holds open work, counts and small windows. History is in index rows and in
// the log. The input of a turn stays in the log and is read again when needed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conversation/messages/turn_digest.h"
#include "schema/facts.h"
#include "schema/snapshots.h"
#include "state/calls.h"
#include "state/channels.h"
#include "state/governance.h"
#include "state/jobs.h"
#include "state/process.h"
#include "state/requests.h"
#include "state/subagents.h"
#include "state/turn_trace.h"

namespace agentrt::state {

using schema::Status;

// Increment it whenever fold() produces a different Session for the same facts. Stored snapshots of
// another version are ignored.
inline constexpr std::uint64_t kFoldVersion = 13;

inline constexpr std::size_t kInputPreviewBytes = 160;
inline constexpr std::size_t kIncidentsMax = 16;
inline constexpr std::size_t kTracesMax = 8;
inline constexpr std::size_t kServerToolsMax = 512;

struct Turn {
  // Defined in session_members.cc, because this large struct is copied in many units.
  Turn();
  Turn(const Turn&);
  Turn(Turn&&) noexcept;
  Turn& operator=(const Turn&);
  Turn& operator=(Turn&&) noexcept;
  ~Turn();

  schema::TurnIds ids;
  Status status = Status::accepted;
  std::optional<std::string> reason;
  std::optional<bool> resumable;
  schema::Visibility visibility = schema::Visibility::internal;
  std::string source;
  std::string preview;     // the beginning of its input
  Sequence submitted = 0;  // sequence of turn.submitted
  Timestamp submitted_at;
  schema::TurnOptions options;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
  std::optional<BootId> boot;           // the runtime that started it; nullopt while queued
  bool pausing = false;                 // its task is paused: no further step starts
  bool prepared = false;                // context and routing were resolved in this boot
  std::uint64_t requests = 0;           // model requests so far
  std::uint64_t ended_by_provider = 0;  // of these, requests that the provider ended
  std::uint64_t retries = 0;            // consecutive
  std::optional<Timestamp> retry_at;
  std::optional<ModelCall> call;
  std::vector<ToolCall> tools;     // in execution order
  std::optional<Action> action;    // the decision that it waits for
  std::optional<Action> resolved;  // the decision that it waited for last
  std::optional<HookRun> hook;     // the hook in progress
  std::uint64_t start_hooks = 0;   // hooks run before its first request
  std::uint64_t after_hooks = 0;   // hooks run since the model answered or a call ended
  std::optional<EndedCall> ended_call;
  std::optional<schema::StopReason> answered;  // the model has finished; hooks may still run
  std::uint64_t stops_refused = 0;             // by hooks, consecutive
  std::optional<StepId> message_item;          // open items
  std::optional<StepId> reasoning_item;
  Timestamp item_at;  // of the open message's last item fact
  std::optional<std::string> model_name;
  std::optional<std::string> provider;
  std::optional<std::string> model;
  std::vector<std::string> fallback;          // names of the models to ask next if this one fails
  std::vector<schema::Candidate> candidates;  // while the turn runs
  bool switched = false;                      // it left the model that routing had selected
  schema::Usage usage;
  std::optional<std::string> answer_preview;
  Sequence answer = 0;  // sequence of the last model.completed
  std::optional<schema::Failure> error;
  std::optional<JobItem> item;           // of a job, that the turn is an attempt at
  Sequence catalog = 0;                  // the complete tool.catalog.resolved that applies
  std::optional<Work> work;              // other than asking a model about its input
  std::optional<Compaction> compaction;  // in progress
  bool compaction_failed = false;        // it is not repeated within the turn
  bool overflowed = false;               // a provider found its request too long
  Sequence end_sequence = 0;             // of the fact that ended it; 0: none yet
  std::optional<ChannelId> channel;      // that it was submitted over
  std::optional<bool> trace_sampled;     // by its caller
  conversation::TurnDigest digest;       // of what its requests consist of

  bool operator==(const Turn&) const;
};
BOOST_DESCRIBE_STRUCT(Turn, (),
                      (ids, status, reason, resumable, visibility, source, preview, submitted,
                       submitted_at, options, started_at, ended_at, boot, pausing, prepared,
                       requests, ended_by_provider, retries, retry_at, call, tools, action,
                       resolved, hook, start_hooks, after_hooks, ended_call, answered,
                       stops_refused, message_item, reasoning_item, item_at, model_name, provider,
                       model, fallback, candidates, switched, usage, answer_preview, answer, error,
                       item, catalog, work, compaction, compaction_failed, overflowed, end_sequence,
                       channel, trace_sampled, digest))

struct Thread {
  // Defined in session_members.cc, because this large struct is copied in many units.
  Thread();
  Thread(const Thread&);
  Thread(Thread&&) noexcept;
  Thread& operator=(const Thread&);
  Thread& operator=(Thread&&) noexcept;
  ~Thread();

  ThreadId id;
  Status status = Status::idle;
  std::optional<std::string> reason;
  std::optional<bool> resumable;
  std::optional<Turn> active;               // the running turn
  std::vector<Turn> queue;                  // in the order they will run
  std::optional<Turn> last;                 // the turn that ended last
  std::vector<schema::Incident> incidents;  // the newest kIncidentsMax
  std::uint64_t turns = 0;
  std::optional<SubagentId> subagent;  // that works on it, closed or not
  // The environment of the turn that was prepared last, and that turn.
  std::optional<schema::ExecutionEnvironment> environment;
  std::optional<TurnId> environment_turn;
  Sequence environment_at = 0;
  Sequence environment_full = 0;             // the context.resolved that has all of it
  std::optional<schema::Surroundings> told;  // the surroundings that the model knows
  std::optional<schema::Policy> policy;      // if it differs from that of the session
  std::optional<SentPrefix> sent;            // absent: no request was made yet
  // Why the next request does not start with the last one; see ContextPrefix::reason.
  std::optional<std::string> prefix_broken;
  Sequence omitted_through = 0;  // turns that ended at or before it are not sent to the model
  ContextSize context;
  std::vector<schema::ContextBoundary> boundaries;  // the newest kBoundariesKept, oldest first
  Governance governance;                            // of its own calls
  std::optional<Fork> fork;                         // absent: it begins with its own first turn
  std::optional<Rollback> rollback;                 // the newest
  std::uint64_t rollbacks = 0;

  bool operator==(const Thread&) const;
};
BOOST_DESCRIBE_STRUCT(Thread, (),
                      (id, status, reason, resumable, active, queue, last, incidents, turns,
                       subagent, environment, environment_turn, environment_at, environment_full,
                       told, policy, sent, prefix_broken, omitted_through, context, boundaries,
                       governance, fork, rollback, rollbacks))

// A tool of an MCP server in the newest catalogue.
struct ServerTool {
  std::string name;
  bool read_only = false;  // as the server declares

  bool operator==(const ServerTool&) const = default;
};
BOOST_DESCRIBE_STRUCT(ServerTool, (), (name, read_only))

// How a session began that was forked from another one.
struct SessionFork {
  schema::ForkPoint from;
  ThreadId thread;
  Sequence at = 0;  // of the thread.started

  bool operator==(const SessionFork&) const = default;
};
BOOST_DESCRIBE_STRUCT(SessionFork, (), (from, thread, at))

struct Session {
  // Defined in session_members.cc, because this large struct is copied in many units.
  Session();
  Session(const Session&);
  Session(Session&&) noexcept;
  Session& operator=(const Session&);
  Session& operator=(Session&&) noexcept;
  ~Session();

  SessionId id;
  Sequence sequence = 0;  // of the last folded fact; 0: the session does not exist
  Timestamp at;           // of that fact
  std::optional<std::string> title;
  std::string cwd;
  std::optional<std::vector<std::string>> additional_roots;
  std::optional<schema::Json> metadata;
  bool archived = false;
  Timestamp created_at;
  std::optional<std::string> params_hash;
  std::map<ThreadId, Thread> threads;   // without the closed ones
  std::optional<Thread> closed_thread;  // the one that was closed last
  std::uint64_t threads_closed = 0;
  std::optional<Thread> rested_thread;  // the one that left the view last, until a command names it
  std::uint64_t threads_resting = 0;    // that are rows
  std::optional<SessionFork> forked;    // absent: it did not begin as a fork of another session
  // Background processes; src/control limits their number.
  std::map<ProcessId, Process> processes;
  std::optional<Process> ended_process;  // the process that ended last
  std::map<JobId, Job> jobs;             // that run or are queued; src/control limits their number
  std::optional<Job> ended_job;          // the job that ended last
  std::map<SubagentId, Subagent> subagents;    // not closed
  std::optional<Subagent> closed_subagent;     // the one that was closed last
  std::map<ChannelId, Channel> channels;       // not closed; src/control limits their number
  std::optional<Channel> closed_channel;       // the one that was closed last
  std::optional<schema::Visibility> new_task;  // of the task whose turn.submitted follows
  schema::TaskSummary tasks;
  schema::RoutingLimitSummary routing;
  schema::Policy policy;                       // of every thread that has none of its own
  bool has_policy = false;                     // `policy` was resolved
  std::vector<schema::PolicyRule> granted;     // for this session, by answers and set_policy
  std::optional<schema::PermissionMode> mode;  // by set_policy
  std::optional<std::string> trust_refused;    // digest of the files that the user refused to trust
  bool greeted = false;                        // a model was asked at least once
  std::vector<ServerTool> server_tools;        // the first kServerToolsMax
  Sequence catalog = 0;                        // of the newest complete tool.catalog.resolved
  std::string catalog_digest;
  std::uint64_t catalog_bytes = 0;  // of the tools in it, as the model gets them
  std::vector<TurnTrace> traces;    // of the newest kTracesMax turns
  // The newest kStoredTextsMax parts of instructions, as context.resolved names them.
  std::vector<StoredText> stored_texts;
  std::uint64_t turns = 0;
  std::uint64_t unknown_facts = 0;
  Sequence snapshot = 0;  // sequence of the last stored snapshot
  Governance governance;  // of the calls of all threads

  bool exists() const { return sequence > 0; }
  bool operator==(const Session&) const;
};
BOOST_DESCRIBE_STRUCT(Session, (),
                      (id, sequence, at, title, cwd, additional_roots, metadata, archived,
                       created_at, params_hash, threads, closed_thread, threads_closed,
                       rested_thread, threads_resting, forked, processes, ended_process, jobs,
                       ended_job, subagents, closed_subagent, channels, closed_channel, new_task,
                       tasks, routing, policy, has_policy, granted, mode, trust_refused, greeted,
                       server_tools, catalog, catalog_digest, catalog_bytes, traces, stored_texts,
                       turns, unknown_facts, snapshot, governance))

}  // namespace agentrt::state

namespace agentrt::schema {

// Instantiated in state/session_members.cc.
extern template std::string to_json(const state::Session& value);
extern template Result<void> from_json(std::string_view text, state::Session& out, Unknown unknown);

}  // namespace agentrt::schema

namespace agentrt::state {

// Applies `fact` to the session. REQUIRES: fact.sequence == session.sequence + 1.
void fold(Session& session, const schema::Fact& fact);

// Completes a fact that is about to follow the session's last one: gives a model request the digest
// of what it consists of, which the facts before it determine.
void complete(const Session& session, schema::Draft& draft);

// The turn that waits for this decision, or nullptr.
const Turn* turn_waiting_for(const Session& session, const ActionId& action);

// The turn if the view contains it: running, queued, or the last one that ended in its thread;
// nullptr: it does not.
const Turn* find_turn(const Session& session, const TurnId& turn);
// The model that the turn continues with because another one failed.
std::optional<std::string> switched_model(const Turn& turn);
const Turn* find_turn(const Thread& thread, const TurnId& turn);
const Thread* find_thread(const Session& session, const ThreadId& thread);

// The policy that the thread's turns are under: that of its last prepared turn, else the session's.
const schema::Policy& policy_of(const Session& session, const ThreadId& thread);

// Whether the turn waits for a decision that survives a restart. A question of an MCP server does
// not.
bool waits_for_person(const Turn& turn);

// Whether a turn or a channel of another boot was left running or connected.
bool interrupted_work(const Session& session, const BootId& boot);

// The beginning of a turn's input.
std::string input_preview(const std::vector<schema::InputPart>& input);

// Adds token counts.
schema::Usage sum(schema::Usage total, const schema::Usage& more);

// Whether a job of the session runs; a queued one does not.
bool job_runs(const Session& session);

// The status of the first active thread that is not blocked; else running if a job runs; else
// blocked; idle if no thread is active.
Status overall_status(const Session& session);

}  // namespace agentrt::state
