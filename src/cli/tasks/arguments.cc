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

  CLI::App* agents = add_verb(app, out, "agents", "Show subagents and what they are doing",
                              "  agentrt agents\n"
                              "  agentrt agents --session demo --watch\n"
                              "  agentrt agents --status running --json");
  agents->add_option("--session", out.agents.session, "Only subagents of this session")
      ->type_name("ID");
  agents
      ->add_option("--status", out.agents.statuses,
                   "Only subagents with this status: queued, running, waiting_input, "
                   "waiting_permission, blocked, completed, failed, cancelled or closed; "
                   "repeatable")
      ->type_name("STATUS")
      ->allow_extra_args(false);
  agents->add_flag("--watch", out.agents.watch, "Keep the tree up to date until Ctrl-C");
}

void add_jobs(CLI::App& app, Parsed& out) {
  CLI::App* jobs = add_verb(app, out, "jobs", "List jobs, or show one with its latest failures",
                            "  agentrt jobs --session demo --status failed\n"
                            "  agentrt jobs job_0… --watch  # until it ends\n\n"
                            "agentrt call create_job creates a job; see docs/jobs.md.");
  jobs->add_option("ID", out.jobs.job, "Id of a job (default: list them)")->type_name("");
  jobs->add_option("--session", out.jobs.session, "Only jobs of this session")->type_name("ID");
  jobs->add_option("--status", out.jobs.status,
                   "Only jobs that are running, completed, failed or cancelled; with ID, only "
                   "items that are pending, running, completed, failed or reported")
      ->type_name("STATUS");
  jobs->add_option("--limit", out.jobs.limit, "Rows per page")->type_name("N");
  jobs->add_option("--cursor", out.jobs.cursor, "The cursor at the end of the previous page")
      ->type_name("CURSOR");
  jobs->add_flag("--watch", out.jobs.watch,
                 "Redraw until the job has ended; in a pipe, print one line per change");
}

}  // namespace agentrt::cli
