// cli/views/task_view.h: tasks as a tree: one line per task with its status, attempts and progress,
// and for failed and blocked tasks the reason and the next command to type. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/views/call_view.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// The tree of the tasks. A task whose parent is not among them is a root. With `whole`, nothing is
// shortened to the paper's width.
std::string tasks_text(const std::vector<schema::TaskSnapshot>& tasks, Paper paper, bool whole);

// One line about the task, for a pipe: "title  status  details".
std::string task_line(const schema::TaskSnapshot& task,
                      const std::vector<schema::TaskSnapshot>& all);

}  // namespace agentrt::cli
