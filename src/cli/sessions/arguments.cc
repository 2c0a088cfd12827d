#include "cli/parsed_arguments.h"

namespace agentrt::cli {
namespace {

void add_rollback(CLI::App& app, Parsed& out) {
  RollbackArguments& rollback = out.rollback;
  CLI::App* verb = add_verb(app, out, "rollback", "Go back to the end of an earlier turn",
                            "  agentrt rollback demo --to turn_5c1e\n"
                            "  agentrt rollback demo --to turn_5c1e --restore preview\n"
                            "  agentrt rollback demo --to turn_5c1e --restore files --yes");
  verb->add_option("session", rollback.session, "The session")->type_name("SESSION")->required();
  verb->add_option("--to", rollback.turn, "The last turn to keep")->type_name("TURN")->required();
  verb->add_option("--thread", rollback.thread, "The thread (default: that of the turn)")
      ->type_name("ID");
  verb->add_option("--restore", rollback.restore,
                   "none (default), preview: only show what would be removed, or files: also undo "
                   "the changes that file tools made")
      ->type_name("MODE")
      ->check(CLI::IsMember({"none", "preview", "files"}));
  verb->add_flag("--interrupt", rollback.interrupt,
                 "Cancel turns, subagents and jobs that are still at work");
  verb->add_flag("--yes", rollback.yes, "Do not ask");
}

}  // namespace

void add_history(CLI::App& app, Parsed& out) {
  CLI::App* compact =
      add_verb(app, out, "compact", "Summarise older turns for the model",
               "  agentrt compact demo\n"
               "  agentrt compact demo --instructions 'keep the names of all files'");
  compact->add_option("session", out.compact.session, "The session")
      ->type_name("SESSION")
      ->required();
  compact->add_option("--thread", out.compact.thread, "The thread (default: the one used last)")
      ->type_name("ID");
  compact
      ->add_option("--instructions", out.compact.instructions,
                   "What the summary must mention, at most 4 KiB")
      ->type_name("TEXT");
  CLI::App* fork = add_verb(app, out, "fork", "Continue from an earlier turn, on a new thread",
                            "  agentrt fork demo\n"
                            "  agentrt fork demo --turn turn_5c1e\n"
                            "  agentrt fork demo --new-session demo_2");
  fork->add_option("session", out.fork.session, "The session")->type_name("SESSION")->required();
  fork->add_option("--turn", out.fork.turn, "The last turn to inherit (default: the newest)")
      ->type_name("TURN");
  fork->add_option("--thread", out.fork.thread,
                   "The thread (default: that of the turn, else the one used last)")
      ->type_name("ID");
  fork->add_option("--new-session", out.fork.new_session,
                   "Start the thread in a new session with this id")
      ->type_name("ID");
  add_rollback(app, out);
}

}  // namespace agentrt::cli
