// cli/page/open.cc: `agentrt open`.
#include <fmt/format.h>

#include "cli/page/page_link.h"
#include "cli/remote/remote.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "schema/command.h"

namespace agentrt::cli {
namespace {

std::optional<Error> scope_problem(const std::vector<std::string>& scopes) {
  for (const std::string& scope : scopes) {
    const auto known = schema::enum_of<schema::TokenScope>(scope);
    if (!known || known == schema::TokenScope::admin)
      return Error{Code::invalid_params,
                   fmt::format("--scope {} is not valid; use one of read, submit, approve.", scope),
                   {}};
  }
  return std::nullopt;
}

// The address of a daemon that a browser can reach. It must be running: a background owner, which
// other commands start, listens on no port.
Result<std::string> daemon_address(const std::string& data) {
  TRY_ASSIGN(const auto owner, runtime::read_owner(data));
  const auto address = owner ? page_address(*owner) : std::nullopt;
  if (!address)
    return fail(Code::unavailable, "No daemon listens on TCP; start one with agentrt serve.");
  return *address;
}

// Where the browser finds the runtime that the command uses.
Result<std::string> address_of(Context& context, const std::string& data) {
  if (!is_remote(context)) return daemon_address(data);
  TRY_ASSIGN(RemoteTarget target, read_remote(context));
  while (target.where.ends_with('/')) target.where.pop_back();
  return std::move(target.where);
}

Result<int> print_link(Context& context, const OpenArguments& arguments, const Client& client,
                       const std::string& data) {
  TRY_ASSIGN(const std::string address, address_of(context, data));
  std::optional<std::string> session;
  if (!arguments.session.empty()) {
    TRY_ASSIGN(const SessionId found, find_session(client, arguments.session));
    session = found.text();
  }
  TRY_ASSIGN(const PageLink link, make_page_link(client, address, arguments.scopes, session));
  if (context.form() == Form::json)
    context.output.out(schema::to_json(link) + "\n");
  else
    context.output.out(link.url + "\n");
  context.output.note(fmt::format("The link works once, within 60 s, with scopes {}.",
                                  fmt::join(link.scopes, ", ")));
  if (arguments.browser) {
    TRY(open_in_browser(link.url, data + "/open.html"));
  }
  return kExitDone;
}

}  // namespace

int open_page(Context& context, const OpenArguments& arguments) {
  if (const auto problem = scope_problem(arguments.scopes)) return context.output.problem(*problem);
  const auto data = data_folder_of(context);
  if (!data) return context.output.problem(data.error());
  if (const auto address = address_of(context, *data); !address)
    return context.output.problem(address.error());
  return with_runtime(context, [&](const Client& client, Signals&) {
    return print_link(context, arguments, client, *data);
  });
}

}  // namespace agentrt::cli
