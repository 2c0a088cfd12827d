// cli/chat/start.cc: `agentrt chat`, and `agentrt` at a terminal.
#include <cstdlib>

#include <fmt/format.h>

#include "cli/chat/chat.h"
#include "cli/decisions/folder_mode.h"
#include "cli/known_session.h"
#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/turns/checks.h"
#include "cli/verbs.h"
#include "config/client_environment.h"
#include "config/config_digest.h"

namespace agentrt::cli {
namespace {

Result<ChatStart> read_start(Context& context, const ChatArguments& arguments) {
  ChatStart start;
  if (arguments.session && arguments.continue_last)
    return fail(Code::invalid_params, "--continue and SESSION both name a session; use one.");
  TRY_ASSIGN(start.data, data_folder_of(context));
  start.remote = is_remote(context);
  if (start.remote) {
    start.folder.cwd = arguments.cwd.value_or("");  // a folder of that machine
  } else {
    TRY_ASSIGN(auto folder, folder_option("--cwd", arguments.cwd));
    start.folder.cwd = std::move(folder).value_or(context.cwd);
    TRY_ASSIGN(start.folder.config, config_of(context, start.folder.cwd));
  }
  TRY_ASSIGN(start.mode, option_word<schema::PermissionMode>("--mode", arguments.mode));
  TRY_ASSIGN(start.sandbox, option_word<schema::SandboxMode>("--sandbox", arguments.sandbox));
  schema::TurnOptions options;
  options.mode = start.mode;
  options.sandbox = start.sandbox;
  TRY(check_policy(start.folder.config, options));
  if (arguments.model)
    start.model =
        start.remote ? *arguments.model : config::resolve_model_name(*arguments.model, context.cwd);
  if (start.model && !start.remote) TRY(add_script(start.folder.config, *start.model));
  for (const std::string& named : arguments.folders) {
    if (start.remote) {
      start.folders.push_back(named);
      continue;
    }
    TRY_ASSIGN(auto added, folder_option("--add-dir", named));
    start.folders.push_back(*std::move(added));
  }
  const Screen& screen = context.output.screen();
  start.plain = arguments.plain || !screen.in_terminal || !screen.out_terminal || !screen.live;
  start.attached = arguments.attach;
  start.watches_only = arguments.attach && !screen.in_terminal;
  if (arguments.thread) {
    if (!well_formed_id(*arguments.thread))
      return fail(Code::invalid_params, "--thread: not a valid id.");
    start.thread = ThreadId(*arguments.thread);
  }
  return start;
}

// The session to continue, its workspace, and what turns may use there.
Result<void> find_start(Context& context, const Attachment& attachment,
                        const ChatArguments& arguments, ChatStart& start) {
  const Client& client = attachment.client();
  if (arguments.continue_last) {
    TRY_ASSIGN(start.session, last_session_of(client, start.folder.cwd));
  } else if (arguments.session) {
    TRY_ASSIGN(start.session, find_session(client, *arguments.session));
  }
  std::string cwd = start.folder.cwd;
  if (start.session) {
    TRY_ASSIGN(const KnownSession known, look_up(client, start.session));
    if (known.cwd != cwd && !start.remote && !start.attached)
      context.output.note(other_folder(start.session->text(), known.cwd, cwd));
    cwd = known.cwd;
  }
  TRY_ASSIGN(start.folder,
             enter_folder(context, attachment, cwd, std::move(start.folder.config), start.model));
  return {};
}

Result<AttachOptions> attach_options(Context& context, const ChatArguments& arguments,
                                     const ChatStart& start) {
  AttachOptions options;
  if (start.remote) {
    TRY_ASSIGN(options.remote, read_remote(context));
    return options;
  }
  options.data = start.data;
  options.cwd = start.folder.cwd;
  options.config = config_path_of(context);
  options.config_digest = config::config_digest(start.folder.config, context.environment);
  // Without an owner, unless the files of the folder may add models, or the session is in another.
  if (start.folder.config.policy_files.empty() && !arguments.session)
    options.check = [&context, config = start.folder.config, model = start.model] {
      return check_models(context, config, model);
    };
  return options;
}

}  // namespace

int attach_session(Context& context, const AttachArguments& arguments) {
  if (context.form() == Form::json) {
    EventsArguments events;
    events.session = arguments.session;
    events.follow = true;
    return print_events(context, events);
  }
  ChatArguments chat_arguments;
  chat_arguments.session = arguments.session;
  chat_arguments.thread = arguments.thread;
  chat_arguments.plain = arguments.plain;
  chat_arguments.attach = true;
  return chat(context, chat_arguments);
}

int chat(Context& context, const ChatArguments& arguments) {
  if (context.form() == Form::json)
    return context.output.problem(
        {Code::invalid_params, "chat has no --json; use agentrt run --json for one turn.", {}});
  auto start = read_start(context, arguments);
  if (!start) {
    context.output.problem(start.error());
    return kExitUsage;
  }
  std::atomic<bool> leaving = false;
  Signals signals;
  auto options = attach_options(context, arguments, *start);
  if (!options) return context.output.problem(options.error());
  options->abandon = [&] { return leaving.load(); };
  auto attachment = Attachment::make(*std::move(options));
  if (!attachment) return context.output.problem(attachment.error());
  if (const auto same = check_config(context, attachment->owner()); !same)
    return context.output.problem(same.error());
  if (const auto found = find_start(context, *attachment, arguments, *start); !found)
    return context.output.problem(found.error());
  if (context.output.screen().in_terminal && !start->mode && !start->remote && !start->attached) {
    const auto asked =
        ask_folder_mode(attachment->client(), context.output, signals, start->folder.cwd);
    if (!asked) return context.output.problem(asked.error());
    if (signals.count() > 0) return kExitInterrupted;
  }
  Chat chat(context, *std::move(start), *std::move(attachment), signals, leaving);
  return chat.run();
}

}  // namespace agentrt::cli
