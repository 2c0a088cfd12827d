// schema/subagent_snapshot.h: the read model of a subagent.
#pragma once

#include "schema/values.h"

namespace agentrt::schema {

// completed, failed, cancelled: how its last delegation ended; it accepts further input.
BOOST_DEFINE_ENUM_CLASS(ChildStatus, queued, running, waiting_input, waiting_permission, blocked,
                        completed, failed, cancelled, closed)

// Whether none of its delegations is open.
constexpr bool is_idle(ChildStatus status) {
  return status == ChildStatus::completed || status == ChildStatus::failed ||
         status == ChildStatus::cancelled || status == ChildStatus::closed;
}

struct SubagentSnapshot {
  SubagentId subagent_id;
  SessionId session_id;
  ThreadId thread_id;  // its own
  ThreadId parent_thread_id;
  std::optional<SubagentId> parent_subagent_id;  // absent: its parent is no subagent
  std::optional<TurnId> parent_turn_id;          // the turn that spawned it
  std::uint64_t depth = 1;                       // 1: its parent is no subagent
  std::string role;
  std::optional<std::string> nickname;
  ChildStatus status = ChildStatus::running;
  std::optional<std::string> status_reason;
  std::optional<ActionId> action_id;  // the request that it waits for
  TaskId task_id;                     // of its newest delegation
  std::uint64_t delegations = 1;      // so far
  std::uint64_t open_delegations = 0;
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<std::string>> write_roots;
  std::optional<std::string> model;
  std::optional<std::string> last_message_ref;
  std::optional<std::string> preview;  // the beginning of its last message
  std::optional<Failure> last_error;
  std::vector<ThreadId> ancestors;  // threads: its parent first
  Timestamp spawned_at;
  Timestamp updated_at;
  std::optional<Timestamp> closed_at;

  bool operator==(const SubagentSnapshot&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentSnapshot, (),
                      (subagent_id, session_id, thread_id, parent_thread_id, parent_subagent_id,
                       parent_turn_id, depth, role, nickname, status, status_reason, action_id,
                       task_id, delegations, open_delegations, mode, sandbox, tools, write_roots,
                       model, last_message_ref, preview, last_error, ancestors, spawned_at,
                       updated_at, closed_at))

}  // namespace agentrt::schema
