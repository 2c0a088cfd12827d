#include "cli/parsed_arguments.h"

namespace agentrt::cli {
namespace {

void add_answers(CLI::App& app, Parsed& out) {
  CLI::App* approvals = add_verb(app, out, "approvals", "List requests that wait for a decision",
                                 "  agentrt approvals\n"
                                 "  agentrt approvals --session sess_0… --all --json");
  approvals->add_option("--session", out.approvals.session, "Only requests of this session")
      ->type_name("ID");
  approvals->add_flag("--all", out.approvals.all, "Also list requests that were answered");

  CLI::App* approve =
      add_verb(app, out, "approve", "Approve a request, or answer a question",
               "  agentrt approve action_0…\n"
               "  agentrt approve action_0… --scope session     # for the rest of the session\n"
               "  agentrt approve action_0… --answer \"the second\"  # answer a question");
  CLI::App* deny = add_verb(app, out, "deny", "Deny a request",
                            "  agentrt deny action_0… --reason \"not on a Friday\"");
  for (CLI::App* verb : {approve, deny}) {
    verb->add_option("ID", out.answer.action, "Id of the request; see agentrt approvals")
        ->required()
        ->type_name("");
    verb->add_option(
            "--scope", out.answer.scope,
            "How long the answer holds: once (default), for the same call in this session, or "
            "always in this workspace")
        ->type_name("SCOPE")
        ->check(CLI::IsMember({"once", "session", "always"}));
    verb->add_option("--reason", out.answer.reason, "Why; stored in the log and shown to the model")
        ->type_name("TEXT");
    verb->add_option("--digest", out.answer.digest,
                     "Answer only if the request still has this digest, as listed by agentrt "
                     "approvals --json")
        ->type_name("SHA256");
  }
  approve
      ->add_option("--rule", out.answer.rule,
                   "With --scope session or always: the rule to store, one of those that agentrt "
                   "approvals --json lists (default: exactly this call)")
      ->type_name("RULE");
  approve
      ->add_option("--answer", out.answer.answer,
                   "Answer to a question of the model or of an MCP server")
      ->type_name("TEXT");
}

void add_rules(CLI::App& app, Parsed& out) {
  CLI::App* rules =
      add_verb(app, out, "rules", "List permission rules, or remove granted ones",
               "  agentrt rules\n"
               "  agentrt rules --session sess_0…    # with those of a session\n"
               "  agentrt rules --mode on_request    # how commands run in this folder\n"
               "  agentrt rules remove 'shell(git log:*)'");
  rules->add_option("--session", out.rules.session, "Include the rules of this session")
      ->type_name("ID");
  rules->add_option("--cwd", out.rules.cwd, "The workspace (default: the current folder)")
      ->type_name("DIR");
  rules
      ->add_option("--mode", out.rules.mode,
                   "Permission mode of turns in this folder that name none: on_request runs "
                   "commands in the sandbox without asking, default asks each time")
      ->type_name("MODE");
  CLI::App* remove = add_verb(*rules, out, "remove", "Take back rules that a person granted",
                              "  agentrt rules remove 'shell(git log:*)'\n"
                              "  agentrt rules remove --session sess_0… 'shell(\"make\")'");
  remove->add_option("RULE", out.remove_rule.rules, "The rule, as agentrt rules prints it")
      ->required()
      ->type_name("");
  remove
      ->add_option("--session", out.remove_rule.session,
                   "Remove it from this session (default: from every session of the folder)")
      ->type_name("ID");
  remove->add_option("--cwd", out.remove_rule.cwd, "The workspace (default: the current folder)")
      ->type_name("DIR");
}

void add_policy(CLI::App& app, Parsed& out) {
  CLI::App* explain = add_verb(app, out, "explain", "Show whether a shell command would be allowed",
                               "  agentrt explain -- \"git log | head\"\n"
                               "  agentrt explain --json -- \"rm -rf build\"\n"
                               "  agentrt explain --mode auto --session sess_0… -- \"make test\"");
  explain
      ->add_option("TEXT", out.explain.text,
                   "The shell command as one argument; - reads it from standard input. It is not "
                   "run")
      ->required()
      ->type_name("");
  explain->add_option("--mode", out.explain.mode, "Decide under this permission mode")
      ->type_name("MODE");
  explain->add_option("--cwd", out.explain.cwd, "The workspace (default: the current folder)")
      ->type_name("DIR");
  explain
      ->add_option("--session", out.explain.session,
                   "Include the rules and approvals of this session")
      ->type_name("ID");
  add_config(*explain, out.arguments);

  CLI::App* trust =
      add_verb(app, out, "trust", "Show what a workspace's files do, and trust them",
               "  agentrt trust\n"
               "  agentrt trust --list       # which files need trust, and which have it\n"
               "  agentrt trust DIR --revoke");
  trust->add_option("DIR", out.trust.folder, "The workspace (default: the current folder)")
      ->type_name("");
  trust->add_flag("--list", out.trust.list,
                  "List the files and whether they are trusted; change nothing");
  trust->add_flag("--revoke", out.trust.revoke, "Stop trusting the files");
  trust->add_flag("--yes", out.trust.yes, "Trust the files without asking, for scripts");
  add_config(*trust, out.arguments);
}

}  // namespace

void add_decisions(CLI::App& app, Parsed& out) {
  add_answers(app, out);
  add_policy(app, out);
  add_rules(app, out);
}

}  // namespace agentrt::cli
