// control/decide.h: the only write boundary, from a command or report to the facts it causes.
//
// decide() answers one question: given what is already true, what may become true? It performs no
// I/O and keeps no state. Time, new ids and everything that had to be looked up come in through
// Inputs, gathered by the kernel, so the same view, command and inputs give the same decision on
// any machine.
//
// All three outcomes are values. Failures of the outside world (a full disk, a vanished peer) are
// not decisions and never appear here.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "policy/effective.h"
#include "schema/commands.h"
#include "schema/facts.h"
#include "schema/folders.h"
#include "schema/reports.h"
#include "state/session.h"
#include "state/tasks.h"

namespace agentrt::control {

enum class AfterRestart { ask, resume };

inline constexpr std::int64_t kAskTimeoutMaxMs = 30LL * 24 * 3'600 * 1'000;

// Limits and defaults of this runtime, from its configuration.
struct Settings {
  std::size_t queue_turns_max = 1'000;
  std::size_t threads_max = 1'000;       // per session; its view holds them all
  std::uint64_t rollbacks_max = 10'000;  // per thread
  std::uint64_t turn_steps_max = 50;
  std::uint64_t model_retries_max = 3;  // consecutive
  std::int64_t retry_base_ms = 250;     // doubled with every retry
  std::int64_t retry_busy_ms = 2'000;   // the same for an overloaded provider
  std::int64_t retry_max_ms = 30'000;
  // Longest delay that a provider may request; a longer one fails.
  std::int64_t retry_told_max_ms = 300'000;
  std::size_t tasks_open_max = 100'000;       // per session, not ended
  std::size_t task_edges_max = 256;           // per task, of which it is the source
  std::size_t task_depth_max = 32;            // levels of child tasks
  std::size_t background_processes_max = 32;  // per session, at once
  std::size_t jobs_max = 16;                  // running per session
  std::uint64_t job_concurrency_max = schema::kJobConcurrencyMax;  // items of a job at once
  std::size_t subagent_depth_max = 2;     // 1: subagents cannot spawn others
  std::size_t subagents_running_max = 8;  // per session
  // Not closed, per session; a further one closes the one that was idle for the longest time.
  std::size_t subagents_kept_max = 64;
  std::int64_t output_keep_ms = 30LL * 24 * 3'600 * 1'000;  // bytes behind refs
  bool compacts = true;                // by itself, within the turn that needs it
  std::uint64_t compact_percent = 80;  // of the context window that a request may use
  std::size_t channels_max = 64;       // not closed, per session
  std::int64_t channel_expire_ms = 7LL * 24 * 3'600 * 1'000;  // of a disconnected channel
  std::vector<schema::PermissionMode> modes_forbidden;        // by the host policy, for all callers
  std::vector<schema::SandboxMode> sandboxes_forbidden;
  std::string default_cwd = "/";
  std::string home = "/nonexistent";  // what ~ in rules stands for
  // The compiled rules of sessions, which the engine uses too. Core only; never null.
  std::shared_ptr<policy::RuleSets> rule_sets = std::make_shared<policy::RuleSets>();
  std::string user = "unknown";  // that the runtime, and commands outside the sandbox, run as
  AfterRestart after_restart = AfterRestart::ask;
};

// What follows the end of a turn in the conversation of its thread, and what a rollback to that
// turn needs of the turn itself. Lists have at most kRollbackListMax entries.
struct RemovedPart {
  schema::TurnSnapshot target;
  schema::TurnOptions options;                      // of the target
  std::optional<schema::ContextBoundary> boundary;  // in force there, if Removal asked for it
  bool in_conversation = true;                      // false: an earlier rollback removed the target
  std::vector<TurnId> turns;                        // that have ended; the newest, oldest first
  std::uint64_t turn_count = 0;
  std::vector<schema::RollbackEffect> calls;  // commands and MCP calls; the newest, oldest first
  std::uint64_t call_count = 0;
  std::vector<std::string> tools;
  std::vector<schema::RollbackFile> files;  // the first by path
  std::uint64_t file_count = 0;
  std::uint64_t restorable = 0;  // of these files, as the log says
  std::vector<ArtifactId> artifacts;
  std::vector<SubagentId> subagents;  // spawned by these turns
  std::vector<JobId> jobs;            // created since, for tasks of the thread
};

// What the lane has read for the command or report when it was first in the queue (Needs).
struct LaneReads {
  // Lists of tasks, in the order of Needs::lists. Their records are in Inputs::tasks.
  std::vector<std::vector<TaskId>> lists;
  std::map<TaskId, SessionId> foreign_tasks;  // named tasks that belong to other sessions
  std::vector<TaskId> cycle;                  // that the new edge would close; see Needs::Walk
  bool walk_cut = false;                  // more than kTaskWalkMax tasks wait for Needs::Walk::from
  std::vector<std::string> missing_refs;  // of Needs::refs, those whose bytes are not stored
  std::optional<schema::JobRecord> job;   // of Needs::job or Needs::job_of, in its index row
  std::optional<schema::JobItemRecord> job_item;
  bool thread_closed = false;  // Needs::thread was closed
  struct EndedTurn {
    ThreadId thread;
    Sequence end = 0;  // of the fact that ended it; 0: it has not ended
    std::string hash;  // of that fact, in hex
  };
  std::optional<EndedTurn> ended;      // Needs::ended; absent: the session has no such turn
  std::optional<RemovedPart> removed;  // Needs::removal; absent: that turn has not ended
  std::map<ChannelId, schema::ChannelCursor> cursors;  // of Needs::channels, those that are stored
  std::optional<schema::PeerTaskSnapshot> peer_task;   // Needs::peer_task
};

// The thread that a fork continues, by the view of its session.
struct ForkSource {
  SessionId session;
  ThreadId thread;
  TurnId turn;  // the last one to inherit
  std::string cwd;
  std::optional<std::vector<std::string>> additional_roots;
  std::optional<std::string> title;
  std::vector<schema::InheritedPart> parts;         // that it begins with itself
  std::vector<schema::ContextBoundary> boundaries;  // its compactions, oldest first
};

// What was looked up for the decision: the ids that the command names in the store, and its folders
// on disk.
struct Named : LaneReads {
  struct KnownTurn {
    schema::Fact submitted;  // its turn.submitted
    schema::Status status = schema::Status::accepted;
  };
  std::optional<KnownTurn> turn;
  std::optional<schema::ProcessStatus> process;  // status of the named process in its index row
  std::optional<schema::ActionSnapshot> action;
  // Why the first output of the input that the session cannot use is refused.
  std::optional<Error> output;
  std::optional<schema::SubagentSnapshot> subagent;  // the named one
  std::optional<schema::Fact> spawned;  // the subagent.spawned of the id that the caller chose
  std::optional<schema::FolderFinding> folders;  // absent: the disk was not read
  // The row of the named channel, or of the one that has the id chosen for a new channel.
  std::optional<schema::ChannelSnapshot> channel;
  struct Items {
    std::string ref;
    std::uint64_t items = 0;
    std::optional<schema::KeptOutput> stored;  // a new output, which no fact names yet
  };
  std::optional<Items> items;              // the checked input of a new job
  std::optional<Result<ForkSource>> fork;  // of a fork into a new session
  std::optional<EndedTurn> fork_end;       // of its turn; absent: the source has no such turn

  void add(LaneReads reads) { static_cast<LaneReads&>(*this) = std::move(reads); }
};

struct Inputs {
  Timestamp now;
  FreshIds ids;  // seeded by the kernel for this command only
  BootId boot;
  const Settings* settings = nullptr;
  SessionId session;      // the one whose view is given, also where it does not exist yet
  RequestId request;      // on every fact that the command causes
  std::string principal;  // whose command it is; empty for a report
  bool bound = false;     // its token is bound to this session and must not affect others
  std::optional<TraceContext> trace;  // the caller's, for the turn that it submits
  std::string params_hash;            // keyed, of the command's params
  Named named;
  // The records of the tasks that Needs names and of the tasks of open turns, with their ancestors.
  // Null: none.
  const state::Tasks* tasks = nullptr;
  bool approver = false;  // its token has scope approve
  schema::Sender sender = {};
  // The channel of the session that the command came over; empty: none. Every fact of the decision
  // gets it, unless the fact is about another channel.
  ChannelId channel = {};
  bool channel_named = false;  // by the caller, so that a wrong one is refused
  std::string secret = {};     // 32 random bytes for a resume token; only of commands that make one
  GenerationId generation = {};
  // ports::Loop::since; may be empty.
  std::function<std::int64_t(Timestamp)> passed_since = {};

  // Milliseconds since the timestamp of an earlier fact, independent of changes to the wall clock.
  std::int64_t since(Timestamp stamp) const {
    const std::int64_t by_stamps = std::max<std::int64_t>(0, now - stamp);
    return passed_since ? std::min(by_stamps, passed_since(stamp)) : by_stamps;
  }
};

struct Accepted {
  std::vector<schema::Draft> facts;                 // appended together or not at all; never empty
  std::string reply;                                // a JSON object; empty for a report
  std::vector<schema::ChannelCursor> cursors = {};  // stored with the facts
};
struct Unchanged {
  std::string reply;  // nothing to do, or done before: the reply, without new facts
};
using Decided = std::variant<Accepted, Unchanged, Error>;

// What must be read from the store before a decision. It is read when the command or report is at
// the front of its lane, so it includes all earlier decisions.
struct Needs {
  struct List {
    std::string term;  // of index rows of tasks
    std::size_t limit = 1;
    bool oldest_first = false;
  };
  // Whether one of `to` waits for `from`, directly or indirectly: a task waits for those that it is
  // blocked by and for its children.
  struct Walk {
    TaskId from;
    std::vector<TaskId> to;
  };
  std::vector<TaskId> tasks;  // each with its ancestors
  std::optional<Walk> walk;
  std::vector<List> lists;
  std::vector<std::string> refs;      // of outputs
  std::optional<JobId> job;           // with its task
  std::optional<JobItemId> job_item;  // of that job
  std::optional<TaskId> job_of;       // the job that worked on this task last, or works on it next
  // A thread that the command would create if it does not exist: it may have been closed.
  std::optional<ThreadId> thread;
  std::optional<TurnId> ended;  // a turn whose end the decision refers to
  // The part of a conversation after the turn `ended`.
  struct Removal {
    ThreadId thread;
    // The oldest compaction that the view knows; an older one is looked up. 0: it knows all.
    Sequence boundaries_from = 0;
    // The folders of the session, to look at the files.
    std::string workspace;
    std::vector<std::string> additional_roots;
  };
  std::optional<Removal> removal;
  std::vector<ChannelId> channels;  // whose cursors are read
  struct PeerTask {
    ChannelId channel;
    TaskId task;
  };
  std::optional<PeerTask> peer_task;

  bool empty() const { return tasks.empty() && !thread && only_tasks(); }
  // Whether records in memory may be enough.
  bool only_tasks() const {
    return !walk && lists.empty() && refs.empty() && !job && !job_of && !ended && !removal &&
           channels.empty() && !peer_task;
  }
};
inline constexpr std::size_t kTaskWalkMax = 10'000;  // tasks read for one check of the graph
inline constexpr std::size_t kTaskPageMax = 8;       // tasks that one report changes

Needs needs_of(const state::Session& view, const schema::Command& command);
Needs needs_of(const state::Session& view, const schema::Report& report);

// Errors: not_found, conflict, limit_exceeded: why the thread cannot be forked.
Result<ForkSource> fork_source(const state::Session& view, const schema::ForkThread& command);

// REQUIRES: the command mutates (the kernel answers the others from views and index rows).
Decided decide(const state::Session& view, const schema::Command& command, Inputs inputs);
Decided decide(const state::Session& view, const schema::Report& report, Inputs inputs);

}  // namespace agentrt::control
