// schema/facts/subagent.h: subagents that a turn delegates work to.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct SubagentSpawned {
  static constexpr std::string_view kType = "subagent.spawned";
  ThreadId child_thread_id;
  std::optional<std::string> role;
  std::optional<std::string> nickname;
  TaskId task_id;
  ThreadId parent_thread_id;

  bool operator==(const SubagentSpawned&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentSpawned, (),
                      (child_thread_id, role, nickname, task_id, parent_thread_id))

struct SubagentStatus {
  static constexpr std::string_view kType = "subagent.status";
  Status status = Status::running;
  std::optional<std::string> reason;

  bool operator==(const SubagentStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentStatus, (), (status, reason))

struct SubagentInput {
  static constexpr std::string_view kType = "subagent.input";
  std::optional<std::string> input_ref;
  std::optional<std::string> preview;

  bool operator==(const SubagentInput&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentInput, (), (input_ref, preview))

// One delegation succeeded. Further input may follow until the subagent is closed.
struct SubagentCompleted {
  static constexpr std::string_view kType = "subagent.completed";
  std::optional<std::string> last_message_ref;
  std::optional<std::string> preview;

  bool operator==(const SubagentCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentCompleted, (), (last_message_ref, preview))

struct SubagentFailed {
  static constexpr std::string_view kType = "subagent.failed";
  std::optional<Failure> error;

  bool operator==(const SubagentFailed&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentFailed, (), (error))

struct SubagentClosed {
  static constexpr std::string_view kType = "subagent.closed";
  std::optional<std::string> reason;

  bool operator==(const SubagentClosed&) const = default;
};
BOOST_DESCRIBE_STRUCT(SubagentClosed, (), (reason))

}  // namespace agentrt::schema
