// cli/views/task_view.h: tasks as a tree: one line per task with its status, attempts and progress,
// and for tasks that need something the reason and the next command to type. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/views/call_view.h"
#include "schema/commands/actions.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// Tasks with what a reader needs to understand them.
struct TaskList {
  std::vector<schema::TaskSnapshot> tasks;      // newest first, as list_tasks returns them
  std::vector<schema::ActionSnapshot> actions;  // the open requests of their sessions
  Timestamp now;
};

// One tree per session, under its name if there are several. A task whose parent is not in the list
// is a root. With `whole`, nothing is shortened to the paper's width.
std::string tasks_text(const TaskList& list, Paper paper, bool whole);

// One line per task, in the order of the list, for a pipe: "✗ title  status  details".
std::vector<std::string> task_lines(const TaskList& list);

}  // namespace agentrt::cli
