// cli/run.cc: `agentrt run`: submits one turn and follows it to its end.
#include <algorithm>

#include <filesystem>

#include <fmt/format.h>

#include "cli/decisions/folder_mode.h"
#include "cli/follow.h"
#include "cli/known_session.h"
#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/sessions/uploads.h"
#include "cli/turns/checks.h"
#include "cli/turns/piped_input.h"
#include "cli/verbs.h"
#include "config/client_environment.h"
#include "config/config_digest.h"
#include "config/models.h"
#include "schema/commands.h"
#include "schema/snapshots.h"

namespace agentrt::cli {
namespace {

// What the user asked for, checked, with a configuration that would allow it.
struct Request {
  schema::SubmitTurn submit;  // without input: continue the session's open turn
  std::string cwd;
  std::optional<std::string> model;
  config::Config config;
  std::string environment;  // JSON: what the owner of the data folder gets to know of ours
  bool settled = false;     // the session is known; see settle_session()
};

// Empty: the folder of a remote runtime.
Result<std::string> workspace_of(const Context& context, const RunArguments& arguments) {
  if (is_remote(context)) return arguments.cwd.value_or("");
  TRY_ASSIGN(auto folder, folder_option("--cwd", arguments.cwd));
  return std::move(folder).value_or(context.cwd);
}

Result<void> check_ids(const RunArguments& arguments) {
  for (const auto& [option, id] :
       {std::pair{"--session", &arguments.session}, std::pair{"--thread", &arguments.thread},
        std::pair{"--turn-id", &arguments.turn_id}})
    if (*id && !well_formed_id(**id))
      return fail(
          Code::invalid_params,
          fmt::format(
              "{} {} is not a valid id; use 1 to 128 of the characters A-Z a-z 0-9 . _ : -.",
              option, **id));
  return {};
}

// Without a prompt, the run continues the session's open turn; options for a new turn are then
// errors.
Result<void> check_prompt(const RunArguments& arguments) {
  if (arguments.prompt && arguments.prompt->empty())
    return fail(Code::invalid_params, "The prompt is empty; give a PROMPT that says what to do.");
  if (arguments.continue_last && arguments.session)
    return fail(Code::invalid_params, "--continue and --session both name a session; use one.");
  if (arguments.new_session && !arguments.session)
    return fail(Code::invalid_params,
                "--new needs --session ID; without it, each run creates a session.");
  if (arguments.new_session && !arguments.prompt)
    return fail(Code::invalid_params, "--new needs a PROMPT; a new session has nothing to resume.");
  if (arguments.prompt) return {};
  if (!arguments.folders.empty())
    return fail(Code::invalid_params, "--add-dir needs a PROMPT; it applies to new sessions only.");
  if (!arguments.fallback.empty())
    return fail(Code::invalid_params, "--fallback needs a PROMPT; it applies to new turns only.");
  if (!arguments.files.empty())
    return fail(Code::invalid_params, "--file needs a PROMPT that says what to do with the file.");
  if (!arguments.session && !arguments.continue_last)
    return fail(Code::invalid_params,
                "PROMPT is missing; say what to do, or continue a session with --continue or "
                "--session ID; see agentrt run --help.");
  for (const auto& [option, value] :
       {std::pair{"--model", &arguments.model}, std::pair{"--mode", &arguments.mode},
        std::pair{"--sandbox", &arguments.sandbox}, std::pair{"--cwd", &arguments.cwd},
        std::pair{"--turn-id", &arguments.turn_id}})
    if (*value)
      return fail(Code::invalid_params,
                  fmt::format("{} needs a PROMPT; it applies to new turns only, and without a "
                              "PROMPT the current turn of the session is resumed.",
                              option));
  return {};
}

Result<schema::InputPart> file_part(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::canonical(file, error);
  if (error || !std::filesystem::is_regular_file(path, error))
    return fail(
        Code::invalid_params,
        fmt::format("--file {} {}.", file,
                    std::filesystem::exists(file, error) ? "is not a file" : "does not exist"));
  schema::InputPart part;
  part.type = schema::InputKind::file;
  part.path = path.string();
  return part;
}

// `git diff | agentrt run "review this"`: the prompt, then what was piped.
Result<void> add_piped(Context& context, schema::SubmitTurn& submit) {
  TRY_ASSIGN(const auto piped, piped_input(context.output));
  if (!piped) return {};
  schema::InputPart part;
  part.type = schema::InputKind::text;
  part.text = fmt::format("[standard input]\n{}{}[end of standard input]", *piped,
                          piped->ends_with('\n') ? "" : "\n");
  submit.input.insert(submit.input.begin() + 1, std::move(part));
  return {};
}

Result<schema::TurnOptions> read_options(const Context& context, const RunArguments& arguments,
                                         const config::Config& config) {
  schema::TurnOptions options;
  const bool remote = is_remote(context);
  TRY_ASSIGN(options.mode, option_word<schema::PermissionMode>("--mode", arguments.mode));
  TRY_ASSIGN(options.sandbox, option_word<schema::SandboxMode>("--sandbox", arguments.sandbox));
  TRY(check_policy(config, options));
  if (arguments.model)
    options.model =
        remote ? *arguments.model : config::resolve_model_name(*arguments.model, context.cwd);
  if (!arguments.fallback.empty()) options.fallback.emplace();
  for (const std::string& name : arguments.fallback)
    options.fallback->push_back(remote ? name : config::resolve_model_name(name, context.cwd));
  const bool at_terminal = context.output.screen().in_terminal;
  options.interactive = at_terminal || arguments.yes || arguments.yes_outside;
  if (at_terminal && !arguments.yes && context.form() == Form::text) options.ask_trust = true;
  if (!arguments.folders.empty()) options.additional_roots.emplace();
  for (const std::string& named : arguments.folders) {
    if (remote) {  // a folder of that machine
      options.additional_roots->push_back(named);
      continue;
    }
    TRY_ASSIGN(auto folder, folder_option("--add-dir", named));
    options.additional_roots->push_back(*std::move(folder));
  }
  return options;
}

// The model that the turn names, and every model that it falls back to, must be usable.
Result<void> check_request_models(const Context& context, const Request& request) {
  TRY(check_models(context, request.config, request.model));
  for (const std::string& name :
       request.submit.options->fallback.value_or(std::vector<std::string>{}))
    TRY(check_models(context, request.config, name));
  return {};
}

Result<Request> read_request(Context& context, const RunArguments& arguments) {
  TRY(check_ids(arguments));
  TRY(check_prompt(arguments));
  Request request;
  if (arguments.prompt) {
    schema::InputPart part;
    TRY_ASSIGN(part.text, text_or_input(*arguments.prompt));
    if (part.text->empty())
      return fail(Code::invalid_params, "The prompt is empty; give a PROMPT that says what to do.");
    request.submit.input.push_back(std::move(part));
  }
  for (const std::string& file : arguments.files) {
    TRY_ASSIGN(schema::InputPart part, file_part(file));
    request.submit.input.push_back(std::move(part));
  }
  TRY_ASSIGN(request.cwd, workspace_of(context, arguments));
  if (!is_remote(context)) {
    TRY_ASSIGN(request.config, config_of(context, request.cwd));
  }
  TRY_ASSIGN(request.submit.options, read_options(context, arguments, request.config));
  request.model = request.submit.options->model;
  if (!is_remote(context)) {
    if (request.model) TRY(add_script(request.config, *request.model));
    for (const std::string& name :
         request.submit.options->fallback.value_or(std::vector<std::string>{}))
      TRY(add_script(request.config, name));
  }
  if (arguments.session) request.submit.session_id = SessionId(*arguments.session);
  if (arguments.thread) request.submit.thread_id = ThreadId(*arguments.thread);
  if (arguments.turn_id) request.submit.turn_id = TurnId(*arguments.turn_id);
  // Last, since it may wait.
  if (arguments.prompt && *arguments.prompt != "-") TRY(add_piped(context, request.submit));
  return request;
}

Result<schema::SubmitTurnReply> submit(const Client& client, const schema::SubmitTurn& submit) {
  TRY_ASSIGN(const std::string text, client.call("submit_turn", schema::to_json(submit)));
  schema::SubmitTurnReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  return reply;
}

// Creates the session of the turn. Only what must belong to a session before its first turn needs
// this: rules and uploads.
Result<void> create_session(const Client& client, schema::SubmitTurn& submit) {
  schema::CreateSession create;
  create.session_id = submit.session_id;
  create.cwd = submit.options->cwd;
  create.additional_roots = submit.options->additional_roots;
  TRY_ASSIGN(const std::string text, client.call("create_session", schema::to_json(create)));
  schema::SessionReply made;
  TRY(schema::from_json(text, made, schema::Unknown::ignore));
  submit.session_id = made.session_id;
  return {};
}

// Sets the rules of the command line on the session.
Result<void> set_rules(const Client& client, const RunArguments& arguments,
                       const schema::SubmitTurn& submit) {
  schema::SetPolicy rules;
  rules.session_id = *submit.session_id;
  rules.allow = arguments.allow;
  rules.ask = arguments.ask;
  rules.deny = arguments.deny;
  rules.reason = "agentrt run";
  TRY(client.call("set_policy", schema::to_json(rules)));
  return {};
}

// --yes and --yes-outside-sandbox approve one kind of request each.
OnAsk on_ask(const Context& context, const RunArguments& arguments) {
  const bool can_ask = context.output.screen().in_terminal && context.form() == Form::text;
  const bool unattended = arguments.yes || arguments.yes_outside;
  const Answering otherwise = can_ask      ? Answering::ask
                              : unattended ? Answering::refuse
                                           : Answering::leave;
  return {arguments.yes ? Answering::allow : otherwise,
          arguments.yes_outside ? Answering::allow : otherwise};
}

// Follows an earlier turn from its beginning, and resumes it if it is blocked.
Result<int> go_on(Context& context, const RunArguments& arguments, const Request& request,
                  const OpenTurn& open, Attachment& attachment, Signals& signals) {
  context.output.hint(fmt::format("· {} turn {} of this session",
                                  open.stands ? "resuming" : "watching", open.turn.turn.text()));
  if (open.resumable)
    TRY(send_environment(attachment.client(), open.turn.turn, request.environment));
  if (open.resumable) TRY(resume(attachment.client(), open.turn));
  return follow_turn(context.output, attachment, signals, open.turn, open.before,
                     on_ask(context, arguments));
}

// Without a prompt: continues the session's open turn.
Result<int> run_open(Context& context, const RunArguments& arguments, const Request& request,
                     Attachment& attachment, Signals& signals) {
  const SessionId& session = *request.submit.session_id;
  TRY_ASSIGN(const auto open, open_turn(attachment.client(), session, *request.submit.thread_id));
  if (!open)
    return fail(
        Code::conflict,
        fmt::format(
            "The session {} has no unfinished turn; start one with agentrt run --session {} PROMPT",
            session.text(), session.text()));
  return go_on(context, arguments, request, *open, attachment, signals);
}

// Finishes an open turn that waits for a person before a new one is submitted, or interrupts it if
// it has no usable model. Returns an exit code if the run ends here.
Result<std::optional<int>> clear_the_way(Context& context, const RunArguments& arguments,
                                         const Request& request, Attachment& attachment,
                                         Signals& signals) {
  TRY_ASSIGN(const auto open,
             open_turn(attachment.client(), *request.submit.session_id, *request.submit.thread_id));
  if (!open || !open->stands) return std::nullopt;
  if (request.submit.turn_id == open->turn.turn) {  // the user named this very turn
    if (open->resumable)
      TRY(send_environment(attachment.client(), open->turn.turn, request.environment));
    if (open->resumable) TRY(resume(attachment.client(), open->turn));
    return std::nullopt;
  }
  TRY_ASSIGN(const int code, go_on(context, arguments, request, *open, attachment, signals));
  if (code == kExitInterrupted) return code;
  TRY_ASSIGN(const auto left,
             open_turn(attachment.client(), open->turn.session, open->turn.thread));
  if (!left || left->turn.turn != open->turn.turn) return std::nullopt;
  if (!left->no_model) return code;
  context.output.hint("· that turn is cancelled in favour of the new one");
  TRY(interrupt(attachment.client(), left->turn));
  return std::nullopt;
}

// Whether a person is there who can say how commands run, and the command line does not.
bool asks_mode(const Context& context, const RunArguments& arguments) {
  return context.output.screen().in_terminal && context.form() == Form::text && !arguments.mode &&
         !arguments.yes && !arguments.yes_outside && !is_remote(context);
}

// The session that a prefix of its id names. A mistyped id must not start a new conversation.
Result<SessionId> existing_session(const Client& client, const RunArguments& arguments,
                                   const SessionId& named) {
  auto found = find_by_prefix(client, named.text());
  if (!found && found.error().code == Code::not_found && arguments.prompt)
    found.error().message += " To create it, add --new.";
  return found;
}

// Decides which session the turn belongs to, and says so if that is one of another folder. A
// second call, after the owner has left, only reads the session again.
Result<KnownSession> settle_session(Context& context, const RunArguments& arguments,
                                    Request& request, const Client& client) {
  std::optional<SessionId>& session = request.submit.session_id;
  if (request.settled) return look_up(client, session);
  if (arguments.continue_last) {
    TRY_ASSIGN(session, last_session_of(client, request.cwd));
  }
  TRY_ASSIGN(KnownSession known, look_up(client, session));
  if (arguments.new_session && known.exists() && !arguments.turn_id)
    return fail(Code::conflict,
                fmt::format("The session {} exists already; continue it without --new, or choose "
                            "another id.",
                            session->text()));
  if (session && !known.exists() && !arguments.new_session) {
    TRY_ASSIGN(session, existing_session(client, arguments, *session));
    TRY_ASSIGN(known, look_up(client, session));
  }
  request.settled = true;
  if (known.exists() && !arguments.cwd && !is_remote(context) && known.cwd != request.cwd)
    context.output.note(other_folder(session->text(), known.cwd, request.cwd));
  return known;
}

// What a turn of this machine's runtime gets from this client. A remote runtime uses its own.
Result<void> prepare_locally(const Context& context, Request& request,
                             const Attachment& attachment) {
  TRY(use_folder(context, attachment.client(), *request.submit.options->cwd, request.model,
                 request.config));
  // An open turn already has its model, and reports its own problems. `serve` may have models of
  // its own.
  if (!request.submit.input.empty() && attachment.owner().kind == runtime::OwnerKind::background)
    TRY(check_request_models(context, request));
  request.environment =
      schema::to_json(config::client_environment(request.config, context.environment));
  return {};
}

Result<int> run_attached(Context& context, const RunArguments& arguments, Request& request,
                         Attachment& attachment, Signals& signals) {
  TRY_ASSIGN(KnownSession known, settle_session(context, arguments, request, attachment.client()));
  const bool has_prompt = !request.submit.input.empty();
  if (!arguments.thread)
    request.submit.thread_id = has_prompt ? thread_to_use(known) : thread_at_work(known);
  // An existing session keeps its workspace; the runtime decides about another --cwd. The request
  // is the same whether or not the session exists, so that a repeated --turn-id is recognised.
  request.submit.options->cwd = known.exists() && !arguments.cwd ? known.cwd : request.cwd;
  if (request.submit.options->cwd->empty()) request.submit.options->cwd.reset();
  if (!attachment.remote()) TRY(prepare_locally(context, request, attachment));
  const bool has_rules =
      !arguments.allow.empty() || !arguments.ask.empty() || !arguments.deny.empty();
  TRY_ASSIGN(const auto outside, read_outside_files(request.submit));
  if (!known.exists() && (has_rules || !outside.empty()))
    TRY(create_session(attachment.client(), request.submit));
  TRY(upload_files(attachment.client(), outside, request.submit));
  if (has_rules) TRY(set_rules(attachment.client(), arguments, request.submit));
  if (!has_prompt) return run_open(context, arguments, request, attachment, signals);
  if (known.exists()) {
    TRY_ASSIGN(const auto code, clear_the_way(context, arguments, request, attachment, signals));
    if (code) return *code;
    TRY_ASSIGN(known, look_up(attachment.client(), request.submit.session_id));
  }
  if (asks_mode(context, arguments))
    TRY(ask_folder_mode(attachment.client(), context.output, signals,
                        *request.submit.options->cwd));
  if (signals.count() > 0) return kExitInterrupted;
  TRY(send_environment(attachment.client(), *request.submit.turn_id, request.environment));
  TRY_ASSIGN(const auto turn, submit(attachment.client(), request.submit));
  const bool repeated = known.exists() && turn.sequence <= known.as_of_sequence;
  const FollowedTurn followed{turn.session_id, turn.thread_id, turn.turn_id};
  return follow_turn(context.output, attachment, signals, followed,
                     repeated ? 0 : known.as_of_sequence, on_ask(context, arguments));
}

// `request` outlives what is returned.
Result<AttachOptions> attach_options(Context& context, const RunArguments& arguments,
                                     const Request& request) {
  AttachOptions options;
  if (is_remote(context)) {
    TRY_ASSIGN(options.remote, read_remote(context));
    return options;
  }
  TRY_ASSIGN(options.data, data_folder_of(context));
  options.cwd = request.cwd;
  options.config = config_path_of(context);
  options.config_digest = config::config_digest(request.config, context.environment);
  // Without an owner, unless the files of the folder may add models, or the session is in another.
  if (!request.submit.input.empty() && request.config.policy_files.empty() && !arguments.session)
    options.check = [&] { return check_request_models(context, request); };
  return options;
}

}  // namespace

int run_turn(Context& context, const RunArguments& arguments) {
  auto request = read_request(context, arguments);
  if (!request) {
    context.output.problem(request.error());
    return kExitUsage;
  }
  Signals signals;
  auto options = attach_options(context, arguments, *request);
  if (!options) return context.output.problem(options.error());
  options->abandon = [&signals] { return signals.count() > 1 || signals.asked_to_leave(); };
  auto attachment = Attachment::make(*std::move(options));
  if (!attachment) return context.output.problem(attachment.error());
  if (const auto same = check_config(context, attachment->owner()); !same)
    return context.output.problem(same.error());
  // The environment is bound to the turn's id, which must be known before the turn is submitted.
  if (!request->submit.turn_id) request->submit.turn_id = fresh_turn_id();
  // If the turn is submitted a second time, after the owner has left, its key identifies it.
  request->submit.idempotency_key = own_key("run");
  const auto done = attachment->perform(signals, Repeat::may, [&] {
    return run_attached(context, arguments, *request, *attachment, signals);
  });
  if (signals.count() > 1 || signals.asked_to_leave()) return kExitInterrupted;
  return done ? *done : context.output.problem(done.error());
}

}  // namespace agentrt::cli
