// cli/reads.cc: `agentrt sessions`, `show`, `call`, `schema`.
#include <fmt/format.h>

#include "cli/sessions/session_ids.h"
#include "cli/sessions/show_transcript.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
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

int show_session(Context& context, const ShowArguments& arguments) {
  if (arguments.markdown && !arguments.transcript)
    return context.output.problem({Code::invalid_params, "--markdown needs --transcript.", {}});
  if (arguments.transcript && (arguments.limit || arguments.cursor))
    return context.output.problem(
        {Code::invalid_params,
         "--transcript prints every turn; leave --limit and --cursor out.",
         {}});
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    schema::GetSession params;
    TRY_ASSIGN(params.session_id, find_session(client, arguments.session));
    if (arguments.transcript)
      return show_transcript(context, client, params.session_id, arguments.markdown);
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
  return with_runtime(
      context,
      [&](const Client& client, Signals&) -> Result<int> {
        TRY_ASSIGN(const std::string reply, client.call(arguments.command, *params));
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
