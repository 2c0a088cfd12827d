// state/index.h: the index rows that a fact causes.
//
// Rows make any object findable by its id alone, list open work for start-up, and hold the windows
// of old turns and the records of all tasks. They are derived: index() is a pure function of the
// fact and the view after it, and task_rows() encodes what fold_tasks() has made of the facts. The
// store therefore writes them in the append's own transaction, and can rebuild them by folding the
// log again.
#pragma once

#include <string>
#include <vector>

#include "state/session.h"
#include "state/tasks.h"

namespace agentrt::state {

// The index row of one object; store::IndexRow has the same members.
struct ObjectRow {
  // session, thread, turn, task, attempt, tool_call, artifact, artifact_version, process, job,
  // job_item, subagent, output, action, channel, peer_task, grant, trust, folder_mode, rollback,
  // compaction, fork
  std::string kind;
  std::string id;
  // Of a turn, process, rollback or compaction: its thread; of an attempt: its task; of a job item:
  // its job; of a subagent: its parent's thread; of a version of an artifact: the artifact's row;
  // of a peer task: its channel.
  std::string parent;
  Sequence first = 0;
  std::string status;
  bool open = false;
  // SessionSummary, ThreadRead, TurnSnapshot, state::Task, state::TaskAttempt, ArtifactRecord,
  // ProcessSnapshot, JobRecord, JobItemRecord, SubagentSnapshot, OutputRecord, ActionSnapshot,
  // ChannelSnapshot, PeerTaskSnapshot, GrantRecord, TrustRecord, FolderModeRecord, RollbackRecord,
  // ContextBoundary; of a tool call or fork: {}
  std::string record;
  std::vector<std::string> terms = {};  // the lists that it is in
  std::optional<Timestamp> due = {};    // when the runtime must look at it again
  Sequence changed = 0;  // of a session: the fact that changed it last; 0: not listed by change

  bool operator==(const ObjectRow&) const = default;
};

// A rule that a person granted to every session of a workspace.
struct GrantRecord {
  std::string workspace;
  schema::PolicyRule rule;
  std::optional<Timestamp> at;  // of the decision; absent: stored by an older version
};
BOOST_DESCRIBE_STRUCT(GrantRecord, (), (workspace, rule, at))

// The permission mode that a person chose for the sessions of a workspace.
struct FolderModeRecord {
  std::string workspace;
  schema::PermissionMode mode = schema::PermissionMode::default_;
};
BOOST_DESCRIBE_STRUCT(FolderModeRecord, (), (workspace, mode))

// A person's decision to trust one version of a workspace file, or to revoke that trust.
struct TrustRecord {
  std::string workspace;
  std::string path;
  std::string digest;
  Timestamp at;                                     // of the decision
  std::optional<std::vector<std::string>> effects;  // that the person was shown
};
BOOST_DESCRIBE_STRUCT(TrustRecord, (), (workspace, path, digest, at, effects))

// One version of a workspace file that a tool call wrote.
struct ArtifactRecord {
  ArtifactId artifact_id;
  std::optional<std::string> path;
  std::optional<std::string> change;
  std::optional<std::string> version_id;
  std::optional<std::string> previous_id;
  std::optional<std::string> diff_ref;
  std::optional<std::uint64_t> lines_added;
  std::optional<std::uint64_t> lines_removed;
  ThreadId thread_id;
  TurnId turn_id;
  ToolCallId tool_call_id;
  Sequence sequence = 0;  // of its artifact.changed
  Timestamp at;
  std::optional<std::string> previous_ref = {};
};
BOOST_DESCRIBE_STRUCT(ArtifactRecord, (),
                      (artifact_id, path, change, version_id, previous_id, diff_ref, lines_added,
                       lines_removed, thread_id, turn_id, tool_call_id, sequence, at, previous_ref))

inline constexpr std::string_view kActionKind = "action";
inline constexpr std::string_view kChannelKind = "channel";
inline constexpr std::string_view kPeerTaskKind = "peer_task";
inline constexpr std::string_view kToolCallKind = "tool_call";
inline constexpr std::string_view kArtifactKind = "artifact";         // the newest version
inline constexpr std::string_view kVersionKind = "artifact_version";  // every version
inline constexpr std::string_view kGrantKind = "grant";
inline constexpr std::string_view kTrustKind = "trust";
inline constexpr std::string_view kFolderModeKind = "folder_mode";
inline constexpr std::string_view kInForce = "in_force";
inline constexpr std::string_view kWithdrawn = "withdrawn";

// What rows are for. past: for a reply about the session as it was, which has no row of the session
// itself. Such a row changes with every status, so it is left out.
enum class RowUse { store, past };

// REQUIRES: `fact` was the last one folded into `session`.
std::vector<ObjectRow> index(const Session& session, const schema::Fact& fact,
                             RowUse use = RowUse::store);
// The rows of the tasks that facts have changed (fold_tasks()), as they are now.
std::vector<ObjectRow> task_rows(const Tasks& tasks, const TaskChanges& changes);

inline constexpr std::string_view kThreadKind = "thread";
inline constexpr std::string_view kThreadClosed = "closed";
// The lists of the rows of open actions, and of channels that are not closed.
inline constexpr std::string_view kOpenTerm = "open";
inline constexpr std::string_view kDisconnectedTerm = "disconnected";  // and not closed
// The list of the channels of a token that are not closed.
std::string token_term(std::string_view token);
// The id of the row of a peer task.
std::string peer_task_row_id(const ChannelId& channel, const TaskId& task);
// The list of the rows of one artifact, over all sessions.
std::string artifact_term(std::string_view artifact);
// The list of the threads of other sessions that were forked from this one.
std::string forks_term(const SessionId& source);
// The id of a thread's row: thread ids are unique only in their session.
std::string thread_row_id(const SessionId& session, const ThreadId& thread);

}  // namespace agentrt::state
