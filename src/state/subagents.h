// state/subagents.h: the subagents of a session that are not closed. Part of the session read model
// (state/session.h).
//
// A subagent works on a thread of its own and belongs to the thread of its parent. Closed subagents
// have left the view; their index rows stay. src/control limits the number of subagents in a view.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/facts.h"
#include "schema/subagent_snapshot.h"

namespace agentrt::state {

struct Session;
struct Turn;

inline constexpr std::string_view kSubagentKind = "subagent";  // of its index row
inline constexpr std::size_t kLastMessageBytes = 8'192;        // kept of a subagent's last message

struct Subagent {
  SubagentId id;
  ThreadId thread;  // its own
  ThreadId parent;  // thread of its parent
  std::optional<TurnId> parent_turn;
  std::string role;
  std::optional<std::string> nickname;
  std::optional<schema::PermissionMode> mode;
  std::optional<schema::SandboxMode> sandbox;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<std::string>> write_roots;
  std::optional<std::string> model;
  schema::ChildStatus status = schema::ChildStatus::running;
  std::optional<std::string> reason;
  std::optional<ActionId> action;
  TaskId task;                    // of its newest delegation
  std::uint64_t delegations = 1;  // so far
  std::uint64_t open = 1;         // of them
  std::string last_message;       // at most kLastMessageBytes
  bool last_message_cut = false;  // it was longer
  Sequence last_message_at = 0;   // sequence of its model.completed; 0: none
  std::optional<schema::Failure> error;
  std::optional<std::string> params_hash;
  Sequence first = 0;  // sequence of subagent.spawned
  Timestamp spawned_at;
  Timestamp updated_at;
  std::optional<Timestamp> closed_at;

  bool operator==(const Subagent&) const = default;
};
BOOST_DESCRIBE_STRUCT(Subagent, (),
                      (id, thread, parent, parent_turn, role, nickname, mode, sandbox, tools,
                       write_roots, model, status, reason, action, task, delegations, open,
                       last_message, last_message_cut, last_message_at, error, params_hash, first,
                       spawned_at, updated_at, closed_at))

// Folds of the facts of subagents.
void fold_subagent(Session& session, const schema::Fact& fact, const schema::SubagentSpawned& p);
void fold_subagent(Session& session, const schema::Fact& fact, const schema::SubagentStatus& p);
void fold_subagent(Session& session, const schema::Fact& fact, const schema::SubagentInput& p);
void fold_subagent(Session& session, const schema::Fact& fact, const schema::SubagentCompleted& p);
void fold_subagent(Session& session, const schema::Fact& fact, const schema::SubagentFailed& p);
void fold_subagent(Session& session, const schema::Fact& fact, const schema::SubagentClosed& p);
// The model of a thread answered: of a subagent's thread, the text is its last message.
void note_answer(Session& session, const schema::Fact& fact, const schema::ModelCompleted& p);

// The open subagent with this id, or of this thread; null: none.
const Subagent* find_subagent(const Session& session, const SubagentId& id);
const Subagent* subagent_of(const Session& session, const ThreadId& thread);

// The threads above the subagent's: its parent's first.
std::vector<ThreadId> ancestors_of(const Session& session, const Subagent& subagent);
// 0: the thread is not that of an open subagent; 1: of one whose parent is not, and so on.
std::size_t depth_of(const Session& session, const ThreadId& thread);
// Whether `thread` is that of a subagent below `ancestor`.
bool is_below(const Session& session, const ThreadId& thread, const ThreadId& ancestor);
// The open subagents whose parent is the thread, in the order of their ids.
std::vector<const Subagent*> children_of(const Session& session, const ThreadId& thread);
// Subagents with an open delegation.
std::size_t running_subagents(const Session& session);

// What the policy of a turn is derived from. Refers to the session.
struct Governing {
  const schema::Policy* policy = nullptr;
  const schema::TurnOptions* options = nullptr;
  const std::optional<std::vector<std::string>>* write_roots = nullptr;  // null: of no subagent
};
// Those of the turn itself and, if it is a turn of a subagent, of the threads above it: each with
// its running turn, or else with its last one.
std::vector<Governing> governing(const Session& session, const Turn& turn);

schema::SubagentSnapshot subagent_snapshot(const Session& session, const Subagent& subagent);

}  // namespace agentrt::state
