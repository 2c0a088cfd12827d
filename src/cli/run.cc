// cli/run.cc: `agentrt run`: submits one turn and follows it to its end.
#include <unistd.h>
#include <algorithm>

#include <filesystem>

#include <fmt/format.h>

#include "cli/follow.h"
#include "cli/verbs.h"
#include "runtime/models.h"
#include "schema/commands.h"
#include "schema/snapshots.h"

namespace agentrt::cli {
namespace {

constexpr std::string_view kMainThread = "main";
constexpr int kHandoversMax = 3;  // from one owner of the data folder to the next

template <class E>
Result<std::optional<E>> read_word(const std::optional<std::string>& text, const char* option) {
  if (!text) return std::nullopt;
  if (const auto word = schema::enum_of<E>(*text)) return word;
  return fail(Code::invalid_params,
              fmt::format("{} {} is not a mode; see agentrt run --help.", option, *text));
}

// What the user asked for, checked, with a configuration that would allow it.
struct Request {
  schema::SubmitTurn submit;
  std::string cwd;
  std::optional<std::string> model;
  runtime::Config config;
};

Result<std::string> workspace_of(const Context& context, const RunArguments& arguments) {
  if (!arguments.cwd) return context.cwd;
  std::error_code error;
  const auto folder = std::filesystem::canonical(*arguments.cwd, error);
  if (error || !std::filesystem::is_directory(folder, error))
    return fail(Code::invalid_params,
                fmt::format("--cwd {} is not a folder; name one that exists.", *arguments.cwd));
  return folder.string();
}

Result<void> check_ids(const RunArguments& arguments) {
  for (const auto& [option, id] :
       {std::pair{"--session", &arguments.session}, std::pair{"--thread", &arguments.thread},
        std::pair{"--turn-id", &arguments.turn_id}})
    if (*id && !well_formed_id(**id))
      return fail(Code::invalid_params,
                  fmt::format("{} {} is not an id: 1 to 128 of the characters A-Z a-z 0-9 . _ : -.",
                              option, **id));
  return {};
}

Result<void> check_policy(const runtime::Config& config, const schema::TurnOptions& options) {
  if (options.mode && config.managed_mode &&
      !runtime::at_most_as_lax(*options.mode, *config.managed_mode))
    return fail(Code::invalid_params,
                fmt::format("--mode {} goes beyond what {} allows; choose a stricter one.",
                            schema::name_of(*options.mode), runtime::kManagedFile));
  if (options.sandbox && config.managed_sandbox &&
      !runtime::at_most_as_lax(*options.sandbox, *config.managed_sandbox))
    return fail(Code::invalid_params,
                fmt::format("--sandbox {} goes beyond what {} allows; choose a stricter one.",
                            schema::name_of(*options.sandbox), runtime::kManagedFile));
  return {};
}

Result<Request> read_request(Context& context, const RunArguments& arguments) {
  TRY(check_ids(arguments));
  TRY_ASSIGN(const std::string prompt, text_or_input(arguments.prompt));
  if (prompt.empty()) return fail(Code::invalid_params, "The prompt is empty; say what to do.");
  Request request;
  TRY_ASSIGN(request.cwd, workspace_of(context, arguments));
  TRY_ASSIGN(request.config, config_of(context, request.cwd));
  schema::TurnOptions options;
  TRY_ASSIGN(options.mode, read_word<schema::PermissionMode>(arguments.mode, "--mode"));
  TRY_ASSIGN(options.sandbox, read_word<schema::SandboxMode>(arguments.sandbox, "--sandbox"));
  TRY(check_policy(request.config, options));
  if (arguments.model) options.model = runtime::resolve_model_name(*arguments.model, context.cwd);
  const bool at_terminal = context.output.screen().in_terminal;
  options.interactive = at_terminal || arguments.yes;
  if (at_terminal && !arguments.yes && context.form() == Form::text) options.ask_trust = true;
  request.model = options.model;
  if (options.model)
    if (const auto script = runtime::script_model(*options.model)) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(script->script, error))
        return fail(Code::invalid_params,
                    fmt::format("The script {} does not exist; check --model.", script->script));
      request.config.models[script->name] = *script;
    }
  schema::InputPart part;
  part.text = prompt;
  request.submit.input.push_back(std::move(part));
  if (arguments.session) request.submit.session_id = SessionId(*arguments.session);
  if (arguments.thread) request.submit.thread_id = ThreadId(*arguments.thread);
  if (arguments.turn_id) request.submit.turn_id = TurnId(*arguments.turn_id);
  request.submit.options = std::move(options);
  return request;
}

// The model that will be asked has its key. Without a default any of them may do.
Result<void> check_key(const Request& request, const Context& context) {
  const runtime::Config& config = request.config;
  const std::optional<std::string> wanted =
      request.model ? request.model : config.routing.default_name;
  std::optional<std::string> lacking;
  for (const auto& [name, model] : config.models) {
    if (wanted && name != *wanted) continue;
    const auto variable = runtime::missing_key(model, context.environment);
    if (!variable && (wanted || model.provider != "script")) return {};
    if (variable && !lacking)
      lacking = fmt::format("The model {} needs a key: set {} to it, and run this again.", name,
                            *variable);
  }
  if (!lacking) return {};
  return fail(Code::invalid_params, *lacking);
}

// What a person must do before a turn can be run here at all.
Result<void> check_models(const Request& request, const Context& context) {
  const runtime::Config& config = request.config;
  const std::string file =
      context.arguments.config
          ? *context.arguments.config
          : runtime::user_config_path(context.environment).value_or("the configuration file");
  if (request.model) {
    if (config.models.contains(*request.model)) return check_key(request, context);
    return fail(Code::invalid_params,
                fmt::format("There is no model called {}; configure [models.{}] in {}, or use "
                            "--model script:FILE.",
                            *request.model, *request.model, file));
  }
  if (config.models.empty())
    return fail(Code::invalid_params,
                fmt::format("No model is configured; set OPENAI_API_KEY (or OPENAI_BASE_URL for a "
                            "server of your own) or ANTHROPIC_API_KEY, or put a [models.main] into "
                            "{}: docs/models.md shows how.",
                            file));
  const runtime::RoutingConfig& routing = config.routing;
  const bool plays_only = std::ranges::all_of(
      config.models, [](const auto& each) { return each.second.provider == "script"; });
  if (plays_only && !routing.default_name && routing.fallback.empty() && !routing.candidates)
    return fail(Code::invalid_params,
                fmt::format("No model is chosen: script models are used only when named; set "
                            "[routing] default in {}, or use --model {}.",
                            file, config.models.begin()->first));
  return check_key(request, context);
}

// What is known of the session before the turn is submitted.
struct ThreadName {
  ThreadId thread_id;
};
BOOST_DESCRIBE_STRUCT(ThreadName, (), (thread_id))
struct KnownSession {
  Sequence as_of_sequence = 0;  // 0: there is no such session yet
  std::string cwd;
  std::vector<ThreadName> threads;
  std::vector<ThreadName> history;  // the newest turn
};
BOOST_DESCRIBE_STRUCT(KnownSession, (), (as_of_sequence, cwd, threads, history))

Result<KnownSession> look_up(const Client& client, const std::optional<SessionId>& session) {
  KnownSession known;
  if (!session) return known;
  schema::GetSession params;
  params.session_id = *session;
  params.limit = 1;
  const auto reply = client.call("get_session", schema::to_json(params));
  if (!reply && reply.error().code == Code::not_found) return known;
  if (!reply) return std::unexpected(reply.error());
  TRY(schema::from_json(*reply, known, schema::Unknown::ignore));
  return known;
}

// Going on with a session means its thread kMainThread, or the one used last where there is none.
ThreadId thread_to_use(const KnownSession& known) {
  const ThreadId main{std::string(kMainThread)};
  for (const ThreadName& thread : known.threads)
    if (thread.thread_id == main) return main;
  return known.history.empty() ? main : known.history.front().thread_id;
}

Result<schema::SubmitTurnReply> submit(const Client& client, const schema::SubmitTurn& submit) {
  TRY_ASSIGN(const std::string text, client.call("submit_turn", schema::to_json(submit)));
  schema::SubmitTurnReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  return reply;
}

// Gives the session the rules of the command line, making it where it is not there yet.
Result<void> set_rules(const Client& client, const RunArguments& arguments,
                       const KnownSession& known, schema::SubmitTurn& submit) {
  if (arguments.allow.empty() && arguments.ask.empty() && arguments.deny.empty()) return {};
  if (known.as_of_sequence == 0) {
    schema::CreateSession create;
    create.session_id = submit.session_id;
    create.cwd = submit.options->cwd;
    TRY_ASSIGN(const std::string text, client.call("create_session", schema::to_json(create)));
    schema::SessionReply made;
    TRY(schema::from_json(text, made, schema::Unknown::ignore));
    submit.session_id = made.session_id;
  }
  schema::SetPolicy rules;
  rules.session_id = *submit.session_id;
  rules.allow = arguments.allow;
  rules.ask = arguments.ask;
  rules.deny = arguments.deny;
  rules.reason = "agentrt run";
  TRY(client.call("set_policy", schema::to_json(rules)));
  return {};
}

// A queued turn behind one that waits for a person would wait for ever.
Result<void> check_queue(const Client& client, const schema::SubmitTurnReply& turn) {
  if (turn.status != schema::Status::queued) return {};
  schema::GetThreadRead params{turn.session_id, turn.thread_id};
  TRY_ASSIGN(const std::string text, client.call("get_thread_read", schema::to_json(params)));
  schema::ThreadRead thread;
  TRY(schema::from_json(text, thread, schema::Unknown::ignore));
  if (thread.status != schema::Status::blocked) return {};
  return std::unexpected(
      blocked_error({turn.session_id, turn.thread_id, turn.turn_id},
                    {Ending::blocked, "it is queued behind a turn that was left unfinished",
                     thread.status_reason.value_or(""), true}));
}

Result<int> run_attached(Context& context, const RunArguments& arguments, Request& request,
                         Attachment& attachment, Signals& signals) {
  TRY_ASSIGN(const KnownSession known, look_up(attachment.client(), request.submit.session_id));
  const bool exists = known.as_of_sequence > 0;
  // An existing session keeps its workspace; naming another one is for the runtime to judge. What
  // is sent does not depend on whether it exists, so that a repeated --turn-id is recognised.
  request.submit.options->cwd = exists && !arguments.cwd ? known.cwd : request.cwd;
  if (!arguments.thread) request.submit.thread_id = thread_to_use(known);
  TRY(set_rules(attachment.client(), arguments, known, request.submit));
  TRY_ASSIGN(const auto turn, submit(attachment.client(), request.submit));
  const bool repeated = exists && turn.sequence <= known.as_of_sequence;
  if (!repeated) {
    if (const auto waiting = check_queue(attachment.client(), turn); !waiting) {
      context.output.problem(waiting.error());
      return kExitNeedsPerson;
    }
  }
  FollowedTurn followed{turn.session_id, turn.thread_id, turn.turn_id};
  const bool can_ask = context.output.screen().in_terminal && context.form() == Form::text;
  const OnAsk on_ask = arguments.yes ? OnAsk::allow : can_ask ? OnAsk::ask : OnAsk::leave;
  return follow_turn(context.output, attachment, signals, followed,
                     repeated ? 0 : known.as_of_sequence, on_ask);
}

}  // namespace

int run_turn(Context& context, const RunArguments& arguments) {
  auto request = read_request(context, arguments);
  if (!request) {
    context.output.problem(request.error());
    return kExitUsage;
  }
  const auto data = data_folder_of(context);
  if (!data) return context.output.problem(data.error());
  Signals signals;
  AttachOptions options;
  options.data = *data;
  options.cwd = request->cwd;
  options.abandon = [&signals] { return signals.count() > 1; };
  options.config = [&]() -> Result<runtime::Config> {
    TRY(check_models(*request, context));
    return request->config;
  };
  auto attachment = Attachment::make(std::move(options));
  if (!attachment) return context.output.problem(attachment.error());
  if (context.arguments.config && !attachment->owns())
    context.output.err(
        "agentrt: --config has no effect on this turn: the process that owns the data "
        "folder has its own configuration.\n");
  // The owner may have left between being found and being asked. What was submitted already is
  // recognised by its key.
  request->submit.idempotency_key = fmt::format("run {} {}", ::getpid(), now_of_clock().ms);
  auto done = run_attached(context, arguments, *request, *attachment, signals);
  for (int i = 0; i < kHandoversMax && signals.count() == 0; ++i) {
    if (done || done.error().code != Code::unavailable || !attachment->renew()) break;
    done = run_attached(context, arguments, *request, *attachment, signals);
  }
  if (signals.count() > 1) return kExitInterrupted;
  if (!done) context.output.problem(done.error());
  if (!attachment->settle(signals, context.output)) return kExitInterrupted;
  return done ? *done : exit_code_of(done.error());
}

}  // namespace agentrt::cli
