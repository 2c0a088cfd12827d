#include "cli/arguments.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "cli/parsed_arguments.h"

#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

constexpr int kUsageExit = 2;

// Help fits a terminal of 80 columns: CLI11 indents descriptions by kHelpIndent and breaks no
// lines.
constexpr size_t kHelpColumns = 80;
constexpr size_t kHelpIndent = 30;

// Breaks a text into lines of at most `columns`, at spaces.
std::string wrapped(std::string_view text, size_t columns) {
  std::string out;
  for (std::string& line : wrap(text, columns)) {
    while (line.ends_with(' ')) line.pop_back();
    out += (out.empty() ? "" : "\n") + line;
  }
  return out;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kHelpColumns - kHelpIndent);
  }
};

}  // namespace

// The options of every command, accepted before or after its name.
void add_shared(CLI::App& app, Arguments& out) {
  app.add_option("--data", out.data,
                 "Data folder (default: $AGENTRT_HOME, else $XDG_DATA_HOME/agentrt, else "
                 "~/.local/share/agentrt)")
      ->type_name("DIR");
  app.add_option("--remote", out.remote,
                 "Use the runtime at this URL, or the one that [remotes.NAME] configures")
      ->type_name("URL|NAME");
  app.add_option("--token-file", out.token_file,
                 "File with the token for --remote (default: $AGENTRT_TOKEN)")
      ->type_name("FILE");
  app.add_option("--ca-file", out.ca_file,
                 "Certificates to trust for --remote, in PEM (default: the system's)")
      ->type_name("FILE");
  app.add_flag("--json", out.json, "Print JSON instead of text, also for errors");
}

void add_config(CLI::App& app, Arguments& out) {
  app.add_option("--config", out.config, "Read this file instead of the user configuration file")
      ->type_name("FILE");
}

CLI::App* add_verb(CLI::App& app, Parsed& out, const std::string& name, const std::string& about,
                   const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, about);
  add_shared(*verb, out.arguments);
  verb->footer("Examples:\n" + examples);
  return verb;
}

namespace {

// Which session, thread and turn a run belongs to.
void add_run_target(CLI::App& verb, RunArguments& run) {
  verb.add_flag("--continue,-c", run.continue_last,
                "Continue the session of this folder that was used last");
  verb.add_option("--session", run.session,
                  "Continue this session; the beginning of its id is enough (default: a new "
                  "session)")
      ->type_name("ID");
  verb.add_flag("--new", run.new_session, "Create the session that --session names");
  verb.add_option("--thread", run.thread,
                  "Thread of the session (default: main, or else the one used last)")
      ->type_name("ID");
  verb.add_option("--turn-id", run.turn_id,
                  "Id of the new turn. If the turn exists already, show it instead of "
                  "running it again")
      ->type_name("ID");
}

// How turns run. Given: RunArguments, ChatArguments or ResumeArguments.
template <class Given>
void add_policy_options(CLI::App& app, Given& out) {
  app.add_option("--model", out.model,
                 "A configured model, or script:FILE (default: the one that routing selects)")
      ->type_name("NAME");
  app.add_option("--mode", out.mode,
                 "Permission mode: default, untrusted, on_request, on_failure, never, plan, "
                 "auto or bypass")
      ->type_name("MODE");
  app.add_option("--sandbox", out.sandbox,
                 "Sandbox profile: read_only, workspace_write or full_access")
      ->type_name("PROFILE");
}

void add_plain(CLI::App& app, bool& plain) {
  app.add_flag("--plain", plain,
               "Print line by line and redraw nothing; the default if standard output is not a "
               "terminal");
}

// The options of commands that submit turns, also of new sessions. Given: RunArguments or
// ChatArguments.
template <class Given>
void add_turn_options(CLI::App& app, Given& out) {
  add_policy_options(app, out);
  app.add_option("--cwd", out.cwd, "The workspace (default: the current folder)")->type_name("DIR");
  app.add_option("--add-dir", out.folders,
                 "Another folder that tools of a new session may read and write, like the "
                 "workspace; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void add_run(CLI::App& app, Parsed& out) {
  CLI::App* verb = add_verb(
      app, out, "run", "Run one turn and stream the answer",
      "  agentrt run \"Explain this repository\"\n"
      "  git diff | agentrt run \"Review this\"         # the prompt, then stdin\n"
      "  agentrt run - < prompt.txt                    # read the prompt from stdin\n"
      "  agentrt run --file shot.png \"What is wrong?\"  # attach a file\n"
      "  agentrt run -c \"And now?\"                     # continue the last session\n"
      "  agentrt run --session ID \"And now?\"           # continue a session\n"
      "  agentrt run --session ID                      # watch or resume its turn\n"
      "  agentrt run --allow \"shell(make test)\" --deny \"shell(git push:*)\" \"Fix it\"\n"
      "  agentrt run --yes \"Fix the tests\"             # approve without asking\n"
      "  agentrt run --json \"hello\" | jq .type         # one event per line\n"
      "  agentrt run --model script:demo.jsonl hello   # play back a script");
  RunArguments& run = out.run;
  verb->add_option("PROMPT", run.prompt,
                   "The prompt; - reads it from standard input. With --continue or --session and "
                   "without a prompt, watch or resume the turn of that session")
      ->type_name("");
  add_turn_options(*verb, run);
  add_run_target(*verb, run);
  verb->add_option("--fallback", run.fallback,
                   "Model to ask if the one before it fails (default: [routing] fallback, if "
                   "--model is not given); repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb->add_option("--file", run.files,
                   "Attach an image, a PDF document or a text file; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("--allow", run.allow,
                   "Rule for the session: run matching calls without asking; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false);
  verb->add_option("--ask", run.ask,
                   "Rule for the session: ask before running matching calls; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false);
  verb->add_option("--deny", run.deny, "Rule for the session: refuse matching calls; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false);
  verb->add_flag(
      "--yes", run.yes,
      "Approve every request for approval, once each, except to leave the sandbox. Calls "
      "that the policy denies stay denied");
  verb->add_flag("--yes-outside-sandbox", run.yes_outside,
                 "Approve requests to run a command outside the sandbox, once each, and nothing "
                 "else; can be combined with --yes");
  add_config(*verb, out.arguments);
}

void add_chat(CLI::App& app, Parsed& out) {
  CLI::App* verb =
      add_verb(app, out, "chat", "Have a conversation; agentrt alone does the same",
               "  agentrt\n"
               "  agentrt chat --continue             # the last session of this folder\n"
               "  agentrt chat sess_0…                # continue a session\n"
               "  agentrt chat --mode plan            # read and propose, change nothing\n"
               "  agentrt chat --plain                # line by line, for screen readers\n"
               "  agentrt chat --model script:examples/hello.jsonl\n\n"
               "Type /help in the conversation for its keys and commands.");
  ChatArguments& chat = out.chat;
  verb->add_option("SESSION", chat.session,
                   "Session to continue; the beginning of its id is enough (default: a new one)")
      ->type_name("");
  verb->add_flag("--continue,-c", chat.continue_last,
                 "Continue the session of this folder that was used last");
  add_turn_options(*verb, chat);
  add_plain(*verb, chat.plain);
  add_config(*verb, out.arguments);
}

void add_serve(CLI::App& app, Parsed& out) {
  CLI::App* verb =
      add_verb(app, out, "serve", "Run the daemon with its HTTP interface",
               "  agentrt serve\n"
               "  agentrt serve --listen 127.0.0.1:0  # pick a free port and print it\n"
               "  agentrt serve --host box.local      # also accept this name in Host\n"
               "  agentrt serve --listen 0.0.0.0:7717 --allow-remote \\\n"
               "    --tls-cert cert.pem --tls-key key.pem\n\n"
               "SIGHUP reads certificate and key again.");
  verb->add_option("--listen", out.serve.listen,
                   "Address and port; port 0 picks a free port (default: [server] listen, else "
                   "127.0.0.1:7717)")
      ->type_name("ADDR:PORT");
  verb->add_option("--tls-cert", out.serve.tls_cert, "Serve https with this certificate chain")
      ->type_name("FILE");
  verb->add_option("--tls-key", out.serve.tls_key, "The private key of the certificate")
      ->type_name("FILE");
  verb->add_option("--host", out.serve.hosts,
                   "Another name to accept in the Host header; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb->add_flag("--allow-remote", out.serve.allow_remote,
                 "Allow an address that other machines can reach; needs TLS or --behind-proxy");
  verb->add_flag("--behind-proxy", out.serve.behind_proxy,
                 "Confirm that a reverse proxy in front of the daemon does TLS");
  add_config(*verb, out.arguments);
}

void add_owner(CLI::App& app, Parsed& out) {
  CLI::App* stop = add_verb(app, out, "stop", "End the background owner of the data folder",
                            "  agentrt stop\n"
                            "  agentrt stop --yes                              also while sessions "
                            "are at work");
  stop->add_flag("--yes", out.stop.yes, "Do not ask, even if sessions are at work");
  CLI::App* own = app.add_subcommand("own", "")->group("");  // hidden
  add_shared(*own, out.arguments);
  add_config(*own, out.arguments);
}

void add_reads(CLI::App& app, Parsed& out) {
  CLI::App* sessions = add_verb(app, out, "sessions", "List sessions, newest first",
                                "  agentrt sessions\n"
                                "  agentrt sessions --limit 5\n"
                                "  agentrt sessions --all --json");
  sessions->add_option("--limit", out.sessions.limit, "Rows per page")->type_name("N");
  sessions
      ->add_option("--cursor", out.sessions.cursor,
                   "Start after this page: the cursor printed at the end of the previous page")
      ->type_name("CURSOR");
  sessions->add_flag("--all", out.sessions.all, "List every page");
  sessions->add_flag("--system", out.sessions.system,
                     "Also list the session of the runtime itself");

  CLI::App* resume = add_verb(app, out, "resume", "Choose an earlier session and open it",
                              "  agentrt resume\n"
                              "  agentrt resume parser  # begin with those that mention it");
  resume->add_option("WORDS", out.resume.search, "Search for these words at first")->type_name("");
  add_policy_options(*resume, out.resume);
  add_plain(*resume, out.resume.plain);
  add_config(*resume, out.arguments);

  CLI::App* show = add_verb(app, out, "show", "Show the threads, turns and queue of a session",
                            "  agentrt show sess_0…\n"
                            "  agentrt show sess_0… --transcript\n"
                            "  agentrt show sess_0… --transcript --markdown > talk.md\n"
                            "  agentrt show sess_0… --view task_snapshot");
  show->add_option("ID", out.show.session, "Id of the session; see agentrt sessions")
      ->required()
      ->type_name("");
  show->add_flag("--transcript", out.show.transcript,
                 "Print the whole conversation, each tool call on one line; paged at a terminal");
  show->add_flag("--markdown", out.show.markdown, "Print the transcript as Markdown");
  show->add_option("--limit", out.show.limit, "Show at most this many turns")->type_name("N");
  show->add_option("--cursor", out.show.cursor,
                   "Show older turns: the cursor printed at the end of the previous page")
      ->type_name("CURSOR");
  show->add_option("--view", out.show.view,
                   "Print this read model as JSON; see docs/read_models.md")
      ->type_name("NAME");
  show->add_option("--thread", out.show.thread, "With --view: narrow the model to this thread")
      ->type_name("ID");

  CLI::App* find = add_verb(app, out, "find", "Find the session, thread and turn of an object",
                            "  agentrt find call_0…");
  find->add_option("ID", out.find.id,
                   "Id of a session, turn, task, tool call, action, process, output, artifact, job "
                   "or subagent")
      ->required()
      ->type_name("");

  CLI::App* events = add_verb(app, out, "events", "Print the events of a session",
                              "  agentrt events sess_0…\n"
                              "  agentrt events sess_0… --follow\n"
                              "  agentrt events sess_0… --after 120 --limit 10 --json\n"
                              "  agentrt events sess_0… --type turn.completed --type turn.failed");
  events->add_option("ID", out.events.session, "Id of the session; see agentrt sessions")
      ->required()
      ->type_name("");
  events->add_flag("--follow", out.events.follow,
                   "Keep running and print new events as they happen");
  events->add_option("--after", out.events.after, "Only events with a sequence greater than this")
      ->type_name("N");
  events->add_option("--limit", out.events.limit, "Print at most this many events")->type_name("N");
  events->add_option("--type", out.events.types, "Only events of this type; repeatable")
      ->type_name("TYPE")
      ->allow_extra_args(false);
}

void add_tokens(CLI::App& app, Parsed& out) {
  CLI::App* token = app.add_subcommand("token", "Create, list and revoke access tokens");
  token->require_subcommand(1);
  add_shared(*token, out.arguments);
  token->footer(
      "Examples:\n  agentrt token create --scope read --name dashboard\n"
      "  agentrt token list\n  agentrt token revoke tok_0…");
  CLI::App* create =
      add_verb(*token, out, "create", "Create a token and print it; it is shown only once",
               "  agentrt token create --scope read --scope submit\n"
               "  agentrt token create --scope read --session sess_0… --name ci\n"
               "  agentrt token create --scope read --expires 12h");
  create
      ->add_option("--scope", out.token_create.scopes,
                   "What the token may do: read, submit, approve or admin; repeatable")
      ->required()
      ->type_name("SCOPE")
      ->allow_extra_args(false);
  create->add_option("--session", out.token_create.session, "Limit the token to this session")
      ->type_name("ID");
  create
      ->add_option(
          "--cwd", out.token_create.cwd,
          "With --session: the workspace in which the token may create that session (default: the "
          "workspace of the daemon)")
      ->type_name("DIR");
  create->add_option("--name", out.token_create.name, "A name to recognise the token by")
      ->type_name("NAME");
  create
      ->add_option(
          "--expires", out.token_create.expires,
          "The token becomes invalid after this time: 45s, 30m, 12h or 7d (default: never)")
      ->type_name("TIME");
  add_verb(*token, out, "list", "List tokens without their secrets", "  agentrt token list");
  CLI::App* revoke = add_verb(*token, out, "revoke", "Revoke a token and close its streams at once",
                              "  agentrt token revoke tok_0…");
  revoke->add_option("ID", out.token_revoke.token, "Id of the token; see agentrt token list")
      ->required()
      ->type_name("");
}

void add_others(CLI::App& app, Parsed& out) {
  CLI::App* call = add_verb(app, out, "call", "Send any command to the control plane",
                            "  agentrt call list_sessions\n"
                            "  agentrt call create_session '{\"title\":\"Notes\"}'\n"
                            "  echo '{\"sessionId\":\"s1\"}' | agentrt call get_session -\n"
                            "\n"
                            "agentrt schema commands lists the commands and their parameters.");
  call->add_option("COMMAND", out.call.command, "Name of the command")->required()->type_name("");
  call->add_option("JSON", out.call.params,
                   "Parameters as a JSON object; - reads it from standard input")
      ->type_name("")
      ->capture_default_str();
  add_config(*call, out.arguments);
  CLI::App* schema = add_verb(app, out, "schema", "Print a published schema",
                              "  agentrt schema events\n  agentrt schema openapi > openapi.json");
  schema->add_option("DOCUMENT", out.schema.document, "Which document to print")
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember({"events", "commands", "snapshots", "openapi"}));
  CLI::App* doctor = add_verb(app, out, "doctor", "Check this machine and the configuration",
                              "  agentrt doctor\n  agentrt doctor --json");
  add_config(*doctor, out.arguments);
}

void add_validate(CLI::App& app, Parsed& out) {
  CLI::App* verb =
      add_verb(app, out, "validate", "Check an event stream against the standard",
               "  agentrt validate events.jsonl\n"
               "  agentrt events sess_0… --json | agentrt validate -\n"
               "  agentrt validate http://127.0.0.1:7717/v1/sessions/sess_0…/events\n"
               "  agentrt validate events.jsonl --snapshot session.json  # compare as well\n"
               "  agentrt validate events.jsonl --format junit > report.xml\n"
               "  agentrt validate --explain turn.order\n\n"
               "Exit codes: 0 conformant, 1 not conformant, 2 wrong usage or unreadable source,\n"
               "4 server not reachable.");
  ValidateArguments& validate = out.validate;
  verb->add_option("SOURCE", validate.source,
                   "A file of JSON lines, - for standard input, or the URL of a server's events")
      ->type_name("");
  verb->add_option("--token", validate.token,
                   "Access token for the server (default: the token in the data folder, if its own "
                   "daemon is the server)")
      ->type_name("TOKEN");
  verb->add_option("--snapshot", validate.snapshot,
                   "Reply of get_session or get_thread_read to compare with the replayed stream")
      ->type_name("FILE");
  verb->add_option("--format", validate.format, "Format of the report (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "junit"}));
  verb->add_option("--profile", validate.profile,
                   "core: the public core of the standard; full: all event families")
      ->type_name("PROFILE")
      ->check(CLI::IsMember({"core", "full"}))
      ->capture_default_str();
  verb->add_option(
          "--after", validate.after,
          "The stream starts after this sequence; earlier events are not reported as missing")
      ->type_name("N");
  verb->add_flag("--strict", validate.strict,
                 "Treat violations of should rules like violations of must rules");
  verb->add_option("--explain", validate.explain,
                   "Print what a rule checks and why; all lists the rules")
      ->type_name("RULE");
}

void add_sandbox(CLI::App& app, Parsed& out) {
  CLI::App* verb =
      add_verb(app, out, "sandbox", "Run a command in the sandbox that tools get",
               "  agentrt sandbox -- make test\n"
               "  agentrt sandbox --profile read_only -- bash -c 'ls; touch x'\n"
               "  agentrt sandbox --allow-network -- curl -sI https://example.org\n"
               "  agentrt sandbox --explain  # print what is enforced on this machine\n\n"
               "Exit codes: that of the command; 125 if the sandbox cannot be applied and\n"
               "nothing ran; 126 or 127 if the command cannot be executed or is not found.");
  SandboxArguments& sandbox = out.sandbox;
  verb->add_option("COMMAND", sandbox.command, "The command and its arguments, after --")
      ->type_name("");
  verb->add_option("--profile", sandbox.profile, "Sandbox profile (default: the configured one)")
      ->type_name("PROFILE")
      ->check(CLI::IsMember({"read_only", "workspace_write", "full_access"}));
  verb->add_option("--cwd", sandbox.cwd, "The workspace (default: the current folder)")
      ->type_name("DIR");
  verb->add_flag("--allow-network", sandbox.allow_network,
                 "Give the command access to the network");
  verb->add_flag("--explain", sandbox.explain,
                 "Print the effective profile instead of running a command");
  add_config(*verb, out.arguments);
}

Verb chosen(const CLI::App& app, const Parsed& parsed) {
  const auto got = [&](const char* name) { return app.got_subcommand(name); };
  if (got("run")) return parsed.run;
  if (got("chat")) return parsed.chat;
  if (got("serve")) return parsed.serve;
  if (got("own")) return OwnArguments{};
  if (got("stop")) return parsed.stop;
  if (got("compact")) return parsed.compact;
  if (got("fork")) return parsed.fork;
  if (got("rollback")) return parsed.rollback;
  if (got("resume")) return parsed.resume;
  if (got("call")) return parsed.call;
  if (got("rpc")) return RpcArguments{};
  if (got("attach")) return parsed.attach;
  if (got("acp")) return AcpArguments{};
  if (got("sessions")) return parsed.sessions;
  if (got("show")) return parsed.show;
  if (got("find")) return parsed.find;
  if (got("events")) return parsed.events;
  if (got("jobs")) return parsed.jobs;
  if (got("schema")) return parsed.schema;
  if (got("validate")) return parsed.validate;
  if (got("sandbox")) return parsed.sandbox;
  if (got("approvals")) return parsed.approvals;
  if (got("channels")) return parsed.channels;
  if (got("tasks")) return parsed.tasks;
  if (got("agents")) return parsed.agents;
  if (got("explain")) return parsed.explain;
  if (got("trust")) return parsed.trust;
  if (got("open")) return parsed.open;
  if (got("demo")) return parsed.demo;
  if (got("approve") || got("deny")) {
    AnswerArguments answer = parsed.answer;
    answer.decision = got("approve") ? "allow" : "deny";
    return answer;
  }
  if (got("rules")) {
    if (!app.get_subcommand("rules")->got_subcommand("remove")) return parsed.rules;
    RemoveRuleArguments remove = parsed.remove_rule;
    if (!remove.session) remove.session = parsed.rules.session;
    if (!remove.cwd) remove.cwd = parsed.rules.cwd;
    return remove;
  }
  if (got("mcp")) {
    const CLI::App* mcp = app.get_subcommand("mcp");
    if (mcp->got_subcommand("login")) return parsed.mcp_login;
    if (mcp->got_subcommand("logout")) return parsed.mcp_logout;
    if (mcp->got_subcommand("serve")) return McpServeArguments{};
    return parsed.mcp_list;
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
    what = "There is no command " + app.remaining().front();
  std::replace(what.begin(), what.end(), '\n', ' ');
  while (what.ends_with('.') || what.ends_with(' ')) what.pop_back();
  return {kUsageExit, "", fmt::format("{}; see {} --help.", what, words), json};
}

}  // namespace

std::variant<Arguments, Answer> parse_arguments(const std::vector<std::string>& given, Bare bare) {
  std::vector<std::string> words = given;
  if (words.empty() && bare == Bare::chat) words = {"chat"};
  Parsed parsed;
  CLI::App app("An agent runtime that stores every step before it acts on it.", "agentrt");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", std::string("agentrt ") + AGENTRT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  agentrt                        # a conversation, at a terminal\n"
      "  agentrt run \"Explain this repository\"\n"
      "  agentrt serve\n"
      "  agentrt sessions\n"
      "  agentrt run --help\n\n"
      "Exit codes: 0 success, 1 the work failed, 2 usage or configuration error,\n"
      "3 a person must decide, 4 store or daemon unavailable, 130 interrupted.");
  add_shared(app, parsed.arguments);
  add_run(app, parsed);
  add_chat(app, parsed);
  add_serve(app, parsed);
  add_owner(app, parsed);
  add_history(app, parsed);
  add_reads(app, parsed);
  add_jobs(app, parsed);
  add_others(app, parsed);
  add_remote(app, parsed);
  add_mcp(app, parsed);
  add_tokens(app, parsed);
  add_validate(app, parsed);
  add_sandbox(app, parsed);
  add_tasks(app, parsed);
  add_decisions(app, parsed);
  add_page(app, parsed);
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
