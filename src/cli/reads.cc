// cli/reads.cc: `agentrt sessions`, `show`, `find`, `call`, `schema`.
#include <fmt/format.h>

#include "cli/sessions/session_ids.h"
#include "cli/sessions/show_transcript.h"
#include "cli/turns/checks.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "cli/views/terminal.h"
#include "config/client_environment.h"
#include "schema/commands.h"
#include "schema/publish.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;

Result<ListReply> read_pages(const Client& client, const SessionsArguments& arguments) {
  schema::ListSessions params;
  params.limit = arguments.all && !arguments.limit ? kPageMax : arguments.limit;
  params.cursor = arguments.cursor;
  if (arguments.system) params.include_system = true;
  ListReply whole;
  do {
    TRY_ASSIGN(const std::string reply, client.call("list_sessions", schema::to_json(params)));
    TRY_ASSIGN(ListReply page, read_list(reply));
    for (schema::Json& row : page.data) whole.data.push_back(std::move(row));
    whole.next_cursor = page.next_cursor;
    params.cursor = page.next_cursor;
  } while (arguments.all && whole.next_cursor);
  return whole;
}

}  // namespace

int list_sessions(Context& context, const SessionsArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const ListReply list, read_pages(client, arguments));
    Output& output = context.output;
    if (context.form() == Form::json) {
      output.out(schema::to_json(list) + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const std::string text, sessions_text(list, now_of_clock(), output.screen().width,
                                                     output.screen().out_colour));
    output.out(text);
    if (list.next_cursor)
      output.hint(fmt::format("· more: agentrt sessions --cursor {}", *list.next_cursor));
    return kExitDone;
  });
}

namespace {

// One member per line, and the command that shows the surroundings.
std::string found_text(const schema::FoundObject& found) {
  std::string out = fmt::format("{:<9}{}\n", "kind", one_line(found.kind));
  const auto line = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{:<9}{}\n", name, one_line(value));
  };
  line("session", found.session_id.text());
  if (found.thread_id) line("thread", found.thread_id->text());
  if (found.turn_id) line("turn", found.turn_id->text());
  line("sequence", std::to_string(found.sequence));
  return out + fmt::format("show it: agentrt events {} --after {} --limit 1\n",
                           one_line(found.session_id.text()), found.sequence - 1);
}

std::optional<std::string> wrong_combination(const ShowArguments& arguments) {
  if (arguments.markdown && !arguments.transcript) return "--markdown needs --transcript.";
  const bool pages = arguments.limit || arguments.cursor;
  if (arguments.transcript && pages)
    return "--transcript prints every turn; leave --limit and --cursor out.";
  if (arguments.view && (pages || arguments.transcript))
    return "--view prints one read model; leave --transcript, --limit and --cursor out.";
  if (arguments.thread && !arguments.view) return "--thread needs --view.";
  return std::nullopt;
}

Result<int> show_model(Context& context, const Client& client, SessionId session,
                       const ShowArguments& arguments) {
  schema::GetReadModel params;
  params.session_id = std::move(session);
  params.name = *arguments.view;
  if (arguments.thread) params.thread_id = ThreadId(*arguments.thread);
  TRY_ASSIGN(const std::string reply, client.call("get_read_model", schema::to_json(params)));
  print_json(context, reply);
  return kExitDone;
}

}  // namespace

int find_by_id(Context& context, const FindArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const std::string reply,
               client.call("find_object", schema::to_json(schema::FindObject{arguments.id, {}})));
    if (context.form() == Form::json) {
      print_json(context, reply);
      return kExitDone;
    }
    schema::FoundObject found;
    TRY(schema::from_json(reply, found, schema::Unknown::ignore));
    context.output.out(found_text(found));
    return kExitDone;
  });
}

int show_session(Context& context, const ShowArguments& arguments) {
  if (auto wrong = wrong_combination(arguments))
    return context.output.problem({Code::invalid_params, *std::move(wrong), {}});
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    schema::GetSession params;
    TRY_ASSIGN(params.session_id, find_session(client, arguments.session));
    if (arguments.transcript)
      return show_transcript(context, client, params.session_id, arguments.markdown);
    if (arguments.view) return show_model(context, client, params.session_id, arguments);
    params.limit = arguments.limit;
    params.cursor = arguments.cursor;
    TRY_ASSIGN(const std::string reply, client.call("get_session", schema::to_json(params)));
    Output& output = context.output;
    if (context.form() == Form::json) {
      output.out(reply + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const std::string text, session_text(reply, now_of_clock(), output.screen().width,
                                                    output.screen().out_colour));
    output.out(text);
    return kExitDone;
  });
}

namespace {

// A command that creates a task or a job, whose work runs with the environment of this client.
struct Creation {
  TurnId id;           // of the task or job: the environment is kept under it
  std::string params;  // of the command, with that id
};

// nullopt: the command creates nothing like that, or its params are wrong. Params without an id get
// a fresh one, unless their idempotency key must stay with the same params.
std::optional<Creation> creation_of(const std::string& command, const std::string& params) {
  auto read = schema::read_command(command, params);
  if (!read) return std::nullopt;
  const auto with_id = [&](auto& created, auto& id) -> std::optional<Creation> {
    using Id = std::remove_cvref_t<decltype(*id)>;
    if (!id && created.idempotency_key) return std::nullopt;
    if (!id) id = Id{fmt::format("{}{}", Id::kPrefix, fresh_turn_id().text().substr(4))};
    return Creation{TurnId{id->text()}, schema::to_json(created)};
  };
  if (auto* task = std::get_if<schema::CreateTask>(&*read)) return with_id(*task, task->task_id);
  if (auto* job = std::get_if<schema::CreateJob>(&*read)) return with_id(*job, job->job_id);
  return std::nullopt;
}

// Without a readable configuration, the work gets the environment of the runtime.
Result<void> send_own_environment(Context& context, const Client& client, const TurnId& id) {
  const auto config = config_of(context, context.cwd);
  if (!config) return {};
  return send_environment(
      client, id, schema::to_json(config::client_environment(*config, context.environment)));
}

}  // namespace

int call(Context& context, const CallArguments& arguments) {
  const auto params = text_or_input(arguments.params);
  if (!params) return context.output.problem(params.error());
  const schema::CommandTraits* command = schema::find_command(arguments.command);
  if (command == nullptr)
    return context.output.problem(
        {Code::invalid_params,
         fmt::format("There is no command {}; agentrt schema commands lists them.",
                     arguments.command),
         {}});
  const bool reads = command->effect == schema::CommandEffect::reads;
  const bool keyed = params->contains("\"idempotencyKey\"");
  const auto created = creation_of(arguments.command, *params);
  return with_runtime(
      context,
      [&](const Client& client, Signals&) -> Result<int> {
        if (created) TRY(send_own_environment(context, client, created->id));
        TRY_ASSIGN(const std::string reply,
                   client.call(arguments.command, created ? created->params : *params));
        print_json(context, reply);
        return kExitDone;
      },
      reads || keyed ? Repeat::may : Repeat::never);
}

int print_schema(Context& context, const SchemaArguments& arguments) {
  for (const schema::PublishedDocument& document : schema::published_documents())
    if (document.name == arguments.document) {
      context.output.out(document.text());
      return kExitDone;
    }
  return context.output.problem(
      {Code::invalid_params, "There is no schema called " + arguments.document, {}});
}

}  // namespace agentrt::cli
