#include "cli/parsed_arguments.h"

namespace agentrt::cli {

void add_tasks(CLI::App& app, Parsed& out) {
  CLI::App* tasks = add_verb(app, out, "tasks", "Show tasks as a tree, with attempts and progress",
                             "  agentrt tasks --session sess_0…\n"
                             "  agentrt tasks --status failed --status blocked\n"
                             "  agentrt tasks --watch");
  tasks->add_option("--session", out.tasks.session, "Only tasks of this session")->type_name("ID");
  tasks->add_option("--status", out.tasks.status, "Only tasks with this status; repeatable")
      ->type_name("WORD");
  tasks->add_flag("--internal", out.tasks.internal, "Also show the tasks behind single turns");
  tasks->add_flag("--watch", out.tasks.watch,
                  "Redraw when something changes; in a pipe, print one line per change");
}

}  // namespace agentrt::cli
