#include "cli/arguments.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace agentrt::cli {
namespace {

constexpr int kUsageExit = 2;

// The options of every command, accepted before or after its name.
void add_shared(CLI::App& app, Arguments& out) {
  app.add_option("--data", out.data,
                 "Data folder (default: $AGENTRT_HOME, else $XDG_DATA_HOME/agentrt, else "
                 "~/.local/share/agentrt)")
      ->type_name("DIR");
  app.add_flag("--json", out.json, "Print JSON instead of text, errors included");
}

void add_config(CLI::App& app, Arguments& out) {
  app.add_option("--config", out.config, "Configuration file in place of the user's")
      ->type_name("FILE");
}

struct Parsed {
  Arguments arguments;
  RunArguments run;
  ServeArguments serve;
  CallArguments call;
  SessionsArguments sessions;
  ShowArguments show;
  EventsArguments events;
  TokenCreateArguments token_create;
  TokenRevokeArguments token_revoke;
  SchemaArguments schema;
  ValidateArguments validate;
  SandboxArguments sandbox;
  ApprovalsArguments approvals;
  AnswerArguments answer;
  ExplainArguments explain;
  TrustArguments trust;
};

CLI::App* add_verb(CLI::App& app, Parsed& out, const std::string& name, const std::string& about,
                   const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, about);
  add_shared(*verb, out.arguments);
  verb->footer("Examples:\n" + examples);
  return verb;
}

void add_run(CLI::App& app, Parsed& out) {
  CLI::App* verb = add_verb(
      app, out, "run", "Run one turn and stream its answer",
      "  agentrt run \"Explain this repository\"\n"
      "  agentrt run --model script:demo.jsonl hello     play a file instead of asking a model\n"
      "  git diff | agentrt run -                        read the prompt from standard input\n"
      "  agentrt run --file shot.png \"What is wrong?\"   give the model a file to see\n"
      "  agentrt run --session ID \"And now?\"             go on with a session\n"
      "  agentrt run --session ID                        watch or resume the turn it has\n"
      "  agentrt run --allow \"shell(make test)\" --deny \"shell(git push:*)\" \"Fix the tests\"\n"
      "  agentrt run --yes \"Fix the tests\"               approve what policy lets a person "
      "approve\n"
      "  agentrt run --json \"hello\" | jq .type           the event envelopes, one a line");
  RunArguments& run = out.run;
  verb->add_option("PROMPT", run.prompt,
                   "What to ask; - reads standard input; none: go on with the turn of --session");
  verb->add_option("--model", run.model, "A configured model, or script:FILE")->type_name("NAME");
  verb->add_option("--mode", run.mode,
                   "Permission mode: default, untrusted, on_request, on_failure, never, plan, "
                   "auto, bypass")
      ->type_name("MODE");
  verb->add_option("--sandbox", run.sandbox, "read_only, workspace_write or full_access")
      ->type_name("MODE");
  verb->add_option("--cwd", run.cwd, "The workspace (default: this folder)")->type_name("DIR");
  verb->add_option("--add-dir", run.folders,
                   "A further folder of a new session, read and written like the workspace")
      ->type_name("DIR")
      ->allow_extra_args(false);
  verb->add_option("--session", run.session, "Go on with this session, or give a new one its id")
      ->type_name("ID");
  verb->add_option("--thread", run.thread, "The thread of the session")->type_name("ID");
  verb->add_option("--turn-id", run.turn_id,
                   "The turn's id; the same id again shows that turn instead of a new one")
      ->type_name("ID");
  verb->add_option("--file", run.files,
                   "An image, a PDF document or a text of the workspace, for the model to see")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("--allow", run.allow, "A rule for the session: its calls run without a question")
      ->type_name("RULE")
      ->allow_extra_args(false);
  verb->add_option("--ask", run.ask, "A rule for the session: its calls are asked about")
      ->type_name("RULE")
      ->allow_extra_args(false);
  verb->add_option("--deny", run.deny, "A rule for the session: its calls are refused")
      ->type_name("RULE")
      ->allow_extra_args(false);
  verb->add_flag("--yes", run.yes, "Answer yes, once, to all that policy lets a person approve");
  add_config(*verb, out.arguments);
}

void add_serve(CLI::App& app, Parsed& out) {
  CLI::App* verb = add_verb(
      app, out, "serve", "Serve the control plane and event streams over HTTP",
      "  agentrt serve\n"
      "  agentrt serve --listen 127.0.0.1:0              pick a free port and print it\n"
      "  agentrt serve --host box.local                  accept this name in Host as well\n"
      "  agentrt serve --listen 0.0.0.0:7717 --allow-remote --behind-proxy");
  verb->add_option("--listen", out.serve.listen, "Where to listen; port 0 picks one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  verb->add_option("--host", out.serve.hosts, "A further name to accept in Host")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb->add_flag("--allow-remote", out.serve.allow_remote,
                 "Allow an address that other machines can reach");
  verb->add_flag("--behind-proxy", out.serve.behind_proxy,
                 "A proxy in front of it does TLS, which this version has not");
  add_config(*verb, out.arguments);
}

void add_reads(CLI::App& app, Parsed& out) {
  CLI::App* sessions = add_verb(app, out, "sessions", "List sessions, newest first",
                                "  agentrt sessions\n"
                                "  agentrt sessions --limit 5\n"
                                "  agentrt sessions --all --json");
  sessions->add_option("--limit", out.sessions.limit, "Rows of a page")->type_name("N");
  sessions->add_option("--cursor", out.sessions.cursor, "Go on after a page")->type_name("CURSOR");
  sessions->add_flag("--all", out.sessions.all, "Every page");
  sessions->add_flag("--system", out.sessions.system, "The runtime's own session too");

  CLI::App* show = add_verb(app, out, "show", "Show a session: its threads, turns and queue",
                            "  agentrt show sess_0…\n"
                            "  agentrt show sess_0… --json");
  show->add_option("ID", out.show.session, "The session")->required();
  show->add_option("--limit", out.show.limit, "How many turns")->type_name("N");
  show->add_option("--cursor", out.show.cursor, "Older turns: the cursor shown last")
      ->type_name("CURSOR");

  CLI::App* events = add_verb(app, out, "events", "Print a session's events",
                              "  agentrt events sess_0…\n"
                              "  agentrt events sess_0… --follow\n"
                              "  agentrt events sess_0… --after 120 --limit 10 --json\n"
                              "  agentrt events sess_0… --type turn.completed --type turn.failed");
  events->add_option("ID", out.events.session, "The session")->required();
  events->add_flag("--follow", out.events.follow, "Stay and print what happens next");
  events->add_option("--after", out.events.after, "Only events after this sequence")
      ->type_name("N");
  events->add_option("--limit", out.events.limit, "At most this many")->type_name("N");
  events->add_option("--type", out.events.types, "Only events of this type")
      ->type_name("TYPE")
      ->allow_extra_args(false);
}

void add_tokens(CLI::App& app, Parsed& out) {
  CLI::App* token = app.add_subcommand("token", "Make, list and revoke access tokens");
  token->require_subcommand(1);
  add_shared(*token, out.arguments);
  token->footer(
      "Examples:\n  agentrt token create --scope read --name dashboard\n"
      "  agentrt token list\n  agentrt token revoke tok_0…");
  CLI::App* create = add_verb(*token, out, "create", "Make a token and print it, once",
                              "  agentrt token create --scope read --scope submit\n"
                              "  agentrt token create --scope read --session sess_0… --name ci");
  create->add_option("--scope", out.token_create.scopes, "read, submit, approve or admin")
      ->required()
      ->type_name("SCOPE")
      ->allow_extra_args(false);
  create->add_option("--session", out.token_create.session, "Only for this session")
      ->type_name("ID");
  create
      ->add_option("--cwd", out.token_create.cwd,
                   "The folder in which it creates that session (default: the daemon's workspace)")
      ->type_name("DIR");
  create->add_option("--name", out.token_create.name, "What it is for")->type_name("NAME");
  add_verb(*token, out, "list", "List tokens, never the secrets", "  agentrt token list");
  CLI::App* revoke = add_verb(*token, out, "revoke", "Revoke a token; its streams close at once",
                              "  agentrt token revoke tok_0…");
  revoke->add_option("ID", out.token_revoke.token, "The token's id")->required();
}

void add_others(CLI::App& app, Parsed& out) {
  CLI::App* call = add_verb(app, out, "call", "Call any command of the control plane",
                            "  agentrt call list_sessions\n"
                            "  agentrt call create_session '{\"title\":\"Notes\"}'\n"
                            "  echo '{\"sessionId\":\"s1\"}' | agentrt call get_session -\n"
                            "The commands: agentrt schema commands");
  call->add_option("COMMAND", out.call.command, "Its name")->required();
  call->add_option("JSON", out.call.params, "Its params; - reads standard input")
      ->capture_default_str();
  add_config(*call, out.arguments);
  CLI::App* schema = add_verb(app, out, "schema", "Print a published schema",
                              "  agentrt schema events\n  agentrt schema openapi > openapi.json");
  schema->add_option("DOCUMENT", out.schema.document, "events, commands, snapshots or openapi")
      ->required()
      ->check(CLI::IsMember({"events", "commands", "snapshots", "openapi"}));
  CLI::App* doctor = add_verb(app, out, "doctor", "Check what works on this machine",
                              "  agentrt doctor\n  agentrt doctor --json");
  add_config(*doctor, out.arguments);
}

void add_validate(CLI::App& app, Parsed& out) {
  CLI::App* verb = add_verb(
      app, out, "validate", "Judge any runtime's event stream by the standard's rules",
      "  agentrt validate events.jsonl\n"
      "  agentrt events sess_0… --json | agentrt validate -\n"
      "  agentrt validate http://127.0.0.1:7717/v1/sessions/sess_0…/events --token TOKEN\n"
      "  agentrt validate events.jsonl --snapshot session.json   replay and compare as well\n"
      "  agentrt validate events.jsonl --format junit > report.xml\n"
      "  agentrt validate --explain turn.order\n\n"
      "Exit codes: 0 conformant, 1 not, 2 usage or a source that cannot be read,\n"
      "4 a server that cannot be reached.");
  ValidateArguments& validate = out.validate;
  verb->add_option("SOURCE", validate.source,
                   "A file of JSON lines, - for standard input, or a server's event route");
  verb->add_option("--token", validate.token,
                   "Access token of the server (default: the one of the data folder, for its own "
                   "daemon)")
      ->type_name("TOKEN");
  verb->add_option("--snapshot", validate.snapshot,
                   "What get_session or get_thread_read said; the replayed stream must agree")
      ->type_name("FILE");
  verb->add_option("--format", validate.format, "text, json or junit (default: text)")
      ->check(CLI::IsMember({"text", "json", "junit"}));
  verb->add_option("--profile", validate.profile,
                   "core: the standard's public core; full: every family")
      ->check(CLI::IsMember({"core", "full"}))
      ->capture_default_str();
  verb->add_option("--after", validate.after,
                   "The stream begins behind this sequence; what came before is not missed")
      ->type_name("N");
  verb->add_flag("--strict", validate.strict, "A broken should counts as a broken must");
  verb->add_option("--explain", validate.explain, "Say what a rule protects; all lists the rules")
      ->type_name("RULE");
}

void add_sandbox(CLI::App& app, Parsed& out) {
  CLI::App* verb = add_verb(
      app, out, "sandbox", "Run one command in the sandbox that a tool would get",
      "  agentrt sandbox -- make test\n"
      "  agentrt sandbox --profile read_only -- bash -c 'ls; touch x'\n"
      "  agentrt sandbox --allow-network -- curl -sI https://example.org\n"
      "  agentrt sandbox --explain                       what would be enforced here\n\n"
      "Exit code: the command's; 125 when the sandbox cannot be applied, and nothing ran.");
  SandboxArguments& sandbox = out.sandbox;
  verb->add_option("COMMAND", sandbox.command, "The command and its arguments, after --");
  verb->add_option("--profile", sandbox.profile,
                   "read_only, workspace_write or full_access (default: the configured one)")
      ->check(CLI::IsMember({"read_only", "workspace_write", "full_access"}));
  verb->add_option("--cwd", sandbox.cwd, "The workspace (default: this folder)")->type_name("DIR");
  verb->add_flag("--allow-network", sandbox.allow_network, "Let it use the machine's network");
  verb->add_flag("--explain", sandbox.explain, "Print the profile instead of running a command");
  add_config(*verb, out.arguments);
}

void add_answers(CLI::App& app, Parsed& out) {
  CLI::App* approvals = add_verb(app, out, "approvals", "List what waits for a person's decision",
                                 "  agentrt approvals\n"
                                 "  agentrt approvals --session sess_0… --all --json");
  approvals->add_option("--session", out.approvals.session, "Only of this session")
      ->type_name("ID");
  approvals->add_flag("--all", out.approvals.all, "Those that were answered too");

  CLI::App* approve = add_verb(
      app, out, "approve", "Allow what waits, or answer a question",
      "  agentrt approve action_0…\n"
      "  agentrt approve action_0… --scope session       and the same text again in this session\n"
      "  agentrt approve action_0… --answer \"the second\"  answer a question of the model");
  CLI::App* deny = add_verb(app, out, "deny", "Refuse what waits",
                            "  agentrt deny action_0… --reason \"not on a Friday\"");
  for (CLI::App* verb : {approve, deny}) {
    verb->add_option("ID", out.answer.action, "The action; see agentrt approvals")->required();
    verb->add_option("--scope", out.answer.scope,
                     "once (default), session, or always in this workspace")
        ->check(CLI::IsMember({"once", "session", "always"}));
    verb->add_option("--reason", out.answer.reason, "Why; it stands in the log")->type_name("TEXT");
    verb->add_option("--digest", out.answer.digest,
                     "The digest of what was read; anything else is not answered")
        ->type_name("SHA256");
  }
  approve->add_option("--answer", out.answer.answer, "The answer to a question")->type_name("TEXT");
}

void add_policy(CLI::App& app, Parsed& out) {
  CLI::App* explain = add_verb(app, out, "explain",
                               "Say what would be decided about a shell text, without running it",
                               "  agentrt explain -- \"git log | head\"\n"
                               "  agentrt explain --json -- \"rm -rf build\"\n"
                               "  agentrt explain --mode auto --session sess_0… -- \"make test\"");
  explain->add_option("TEXT", out.explain.text, "The text, one argument; - reads standard input")
      ->required();
  explain->add_option("--mode", out.explain.mode, "Under this permission mode")->type_name("MODE");
  explain->add_option("--cwd", out.explain.cwd, "The workspace (default: this folder)")
      ->type_name("DIR");
  explain->add_option("--session", out.explain.session, "With what was granted to this session")
      ->type_name("ID");
  add_config(*explain, out.arguments);

  CLI::App* trust = add_verb(
      app, out, "trust", "Trust a workspace's files as they are now",
      "  agentrt trust\n"
      "  agentrt trust --list                            which files need it, and have it\n"
      "  agentrt trust DIR --revoke");
  trust->add_option("DIR", out.trust.folder, "The workspace (default: this folder)");
  trust->add_flag("--list", out.trust.list, "Only say how things stand");
  trust->add_flag("--revoke", out.trust.revoke, "Trust them no longer");
  add_config(*trust, out.arguments);
}

Verb chosen(const CLI::App& app, const Parsed& parsed) {
  const auto got = [&](const char* name) { return app.got_subcommand(name); };
  if (got("run")) return parsed.run;
  if (got("serve")) return parsed.serve;
  if (got("call")) return parsed.call;
  if (got("sessions")) return parsed.sessions;
  if (got("show")) return parsed.show;
  if (got("events")) return parsed.events;
  if (got("schema")) return parsed.schema;
  if (got("validate")) return parsed.validate;
  if (got("sandbox")) return parsed.sandbox;
  if (got("approvals")) return parsed.approvals;
  if (got("explain")) return parsed.explain;
  if (got("trust")) return parsed.trust;
  if (got("approve") || got("deny")) {
    AnswerArguments answer = parsed.answer;
    answer.decision = got("approve") ? "allow" : "deny";
    return answer;
  }
  if (got("token")) {
    const CLI::App* token = app.get_subcommand("token");
    if (token->got_subcommand("create")) return parsed.token_create;
    if (token->got_subcommand("revoke")) return parsed.token_revoke;
    return TokenListArguments{};
  }
  return DoctorArguments{};
}

// The innermost subcommand given, for its help.
const CLI::App* deepest(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

Answer usage_error(const CLI::App& app, const CLI::ParseError& error, bool json) {
  std::string words;
  for (const CLI::App* at = deepest(&app); at != nullptr; at = at->get_parent())
    words = words.empty() ? at->get_name() : at->get_name() + " " + words;
  std::string what = error.what();
  if (app.get_subcommands().empty() && !app.remaining().empty())
    what = "There is no command called " + app.remaining().front();
  std::replace(what.begin(), what.end(), '\n', ' ');
  while (what.ends_with('.') || what.ends_with(' ')) what.pop_back();
  return {kUsageExit, "", fmt::format("{}; see {} --help.", what, words), json};
}

}  // namespace

std::variant<Arguments, Answer> parse_arguments(const std::vector<std::string>& words) {
  Parsed parsed;
  CLI::App app("An agent runtime that keeps every fact: run turns, watch them, lose nothing.",
               "agentrt");
  app.set_version_flag("--version", std::string("agentrt ") + AGENTRT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  agentrt run \"Explain this repository\"\n"
      "  agentrt serve\n"
      "  agentrt sessions\n"
      "  agentrt run --help\n\n"
      "Exit codes: 0 done, 1 the work failed, 2 usage or configuration, 3 it needs a person,\n"
      "4 store or daemon unavailable, 130 interrupted.");
  add_shared(app, parsed.arguments);
  add_run(app, parsed);
  add_serve(app, parsed);
  add_reads(app, parsed);
  add_others(app, parsed);
  add_tokens(app, parsed);
  add_validate(app, parsed);
  add_sandbox(app, parsed);
  add_answers(app, parsed);
  add_policy(app, parsed);
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  if (words.empty())
    return Answer{kUsageExit, "", "No command was given; see agentrt --help.", json};
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Answer{0, app.help(), "", json};
  } catch (const CLI::CallForVersion& version) {
    return Answer{0, std::string(version.what()) + "\n", "", json};
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, json);
  }
  parsed.arguments.verb = chosen(app, parsed);
  return parsed.arguments;
}

}  // namespace agentrt::cli
