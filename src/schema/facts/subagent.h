// schema/facts/subagent.h: subagents: agents that work for the agent of another thread, each on a
// thread of its own in the same session. Each delegation (the prompt of the spawn, each further
// input) is a task. The facts belong to the thread of the parent, and to its turn while one is
// open.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct SubagentSpawned {
  static constexpr std::string_view kType = "subagent.spawned";
  using Scope = SubagentScope;
  ThreadId child_thread_id;
  std::optional<std::string> role;
  std::optional<std::string> nickname;
  TaskId task_id;  // of the first delegation
  ThreadId parent_thread_id;
  std::optional<TurnId> child_turn_id;  // of the first delegation
  // What the subagent is restricted to, beside the policy of its parent; absent: nothing more.
  std::optional<PermissionMode> mode;
  std::optional<SandboxMode> sandbox;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<std::string>> write_roots;  // absolute
  std::optional<std::string> model;
  std::optional<std::string> params_hash;  // of the command that chose the id

  bool operator==(const SubagentSpawned&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentSpawned, (),
                      (child_thread_id, role, nickname, task_id, parent_thread_id, child_turn_id,
                       mode, sandbox, tools, write_roots, model, params_hash))

struct SubagentStatus {
  static constexpr std::string_view kType = "subagent.status";
  using Scope = SubagentScope;
  ThreadId child_thread_id;
  std::optional<TaskId> task_id;  // of the delegation
  Status status = Status::running;
  std::optional<std::string> reason;
  std::optional<ActionId> action_id;  // the request that it waits for

  bool operator==(const SubagentStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentStatus, (), (child_thread_id, task_id, status, reason, action_id))

// A further delegation.
struct SubagentInput {
  static constexpr std::string_view kType = "subagent.input";
  using Scope = SubagentScope;
  ThreadId child_thread_id;
  std::optional<TaskId> task_id;
  std::optional<std::string> input_ref;
  std::optional<std::string> preview;

  bool operator==(const SubagentInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentInput, (), (child_thread_id, task_id, input_ref, preview))

// One delegation succeeded. Further input may follow until the subagent is closed.
struct SubagentCompleted {
  static constexpr std::string_view kType = "subagent.completed";
  using Scope = SubagentScope;
  ThreadId child_thread_id;
  std::optional<TaskId> task_id;
  std::optional<std::string> last_message_ref;
  std::optional<std::string> preview;

  bool operator==(const SubagentCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentCompleted, (), (child_thread_id, task_id, last_message_ref, preview))

// One delegation failed or was cancelled (error.category).
struct SubagentFailed {
  static constexpr std::string_view kType = "subagent.failed";
  using Scope = SubagentScope;
  ThreadId child_thread_id;
  std::optional<TaskId> task_id;
  std::optional<Failure> error;

  bool operator==(const SubagentFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentFailed, (), (child_thread_id, task_id, error))

// Final: the subagent accepts no further input.
struct SubagentClosed {
  static constexpr std::string_view kType = "subagent.closed";
  using Scope = SubagentScope;
  ThreadId child_thread_id;
  std::optional<std::string> reason;

  bool operator==(const SubagentClosed&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentClosed, (), (child_thread_id, reason))

}  // namespace agentrt::schema
