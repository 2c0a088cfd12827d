// schema/commands/task_reads.h: commands that read tasks.
#pragma once

#include "schema/command.h"
#include "schema/tasks.h"

namespace agentrt::schema {

struct GetTask {
  static constexpr CommandTraits kTraits{"get_task", TokenScope::read, CommandEffect::reads};
  TaskId task_id;
  std::optional<SessionId> session_id;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const GetTask&) const = default;
};
BOOST_DESCRIBE_STRUCT(GetTask, (), (task_id, session_id, limit, cursor))

struct ListTasks {
  static constexpr CommandTraits kTraits{"list_tasks", TokenScope::read, CommandEffect::reads};
  std::optional<SessionId> session_id;
  std::optional<std::vector<TaskStatus>> status;
  std::optional<TaskId> parent_task_id;
  std::optional<ThreadId> thread_id;
  std::optional<std::string> task_kind;
  std::optional<std::string> assignee;
  std::optional<bool> include_internal;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;

  bool operator==(const ListTasks&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListTasks, (),
                      (session_id, status, parent_task_id, thread_id, task_kind, assignee,
                       include_internal, limit, cursor))

}  // namespace agentrt::schema
