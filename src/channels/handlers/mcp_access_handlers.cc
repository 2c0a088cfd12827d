// MCP servers and the logins to them. Like tokens, they write no facts.
#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/request_checks.h"
#include "schema/codec.h"

namespace agentrt::channels {
namespace {

struct ServerList {
  std::vector<ports::McpServerState> data;
};
BOOST_DESCRIBE_STRUCT(ServerList, (), (data))

struct CallbackParams {
  std::string callback_url;
};
BOOST_DESCRIBE_STRUCT(CallbackParams, (), (callback_url))

template <class Params>
Result<Params> read_params(const std::string& body) {
  Params params;
  TRY(schema::check_json(body));
  TRY(schema::from_json(body, params, schema::Unknown::refuse));
  return params;
}

std::optional<std::string> find_text(const Query& query, std::string_view name) {
  const std::string* const text = find(query, name);
  return text ? std::optional(*text) : std::nullopt;
}

// Servers are those of a folder, of which a token that is bound to a session knows nothing.
Result<ports::McpAccess*> access_of(Services& services, const Exchange& exchange) {
  if (exchange.identity->session)
    return fail(Code::forbidden, "the token is bound to one session; use another token");
  if (!services.mcp) return fail(Code::conflict, "no MCP servers are used here");
  return services.mcp;
}

template <class T>
ports::McpAccess::To<T> answer_to(Services& services, const ExchangePtr& exchange) {
  return [to = reply_to(services, exchange)](Result<T> result) mutable {
    if (!result) return to(std::unexpected(std::move(result).error()));
    to(schema::to_json(*result));
  };
}

Result<void> list_servers(Services& services, const ExchangePtr& exchange) {
  TRY_ASSIGN(ports::McpAccess* const access, access_of(services, *exchange));
  const Query& query = exchange->request.query;
  TRY_ASSIGN(const auto check, find_flag(query, "check"));
  access->list({find_text(query, "cwd"), find_text(query, "server"), check.value_or(false)},
               [to = reply_to(services, exchange)](
                   Result<std::vector<ports::McpServerState>> servers) mutable {
                 if (!servers) return to(std::unexpected(std::move(servers).error()));
                 to(schema::to_json(ServerList{*std::move(servers)}));
               });
  return {};
}

Result<void> begin_login(Services& services, const ExchangePtr& exchange) {
  TRY_ASSIGN(ports::McpAccess* const access, access_of(services, *exchange));
  TRY_ASSIGN(auto params, read_params<ports::NewMcpLogin>(exchange->request.body));
  access->begin_login(std::move(params), answer_to<ports::McpLogin>(services, exchange));
  return {};
}

Result<void> finish_login(Services& services, const ExchangePtr& exchange) {
  TRY_ASSIGN(ports::McpAccess* const access, access_of(services, *exchange));
  TRY_ASSIGN(auto params, read_params<CallbackParams>(exchange->request.body));
  access->finish_login(exchange->request.ids[0], std::move(params.callback_url),
                       answer_to<ports::McpLogin>(services, exchange));
  return {};
}

Result<void> log_out(Services& services, const ExchangePtr& exchange) {
  TRY_ASSIGN(ports::McpAccess* const access, access_of(services, *exchange));
  const Query& query = exchange->request.query;
  auto server = find_text(query, "server");
  if (!server) return fail(Code::invalid_params, "server: expected the name or URL of a server");
  access->log_out(*std::move(server), find_text(query, "cwd"),
                  answer_to<ports::McpLogout>(services, exchange));
  return {};
}

struct LentList {
  std::vector<ports::LentMcpServer> servers;
};
BOOST_DESCRIBE_STRUCT(LentList, (), (servers))

// The body is the list as the editor wrote it.
Result<void> lend(Services& services, const ExchangePtr& exchange) {
  TRY_ASSIGN(ports::McpAccess* const access, access_of(services, *exchange));
  const Request& request = exchange->request;
  if (!well_formed_id(request.ids[0]))
    return fail(Code::invalid_params, "the path names no session");
  TRY(schema::check_json(request.body));
  LentList list;
  TRY(schema::from_json(fmt::format(R"({{"servers":{}}})", request.body), list,
                        schema::Unknown::ignore));
  access->lend(SessionId{request.ids[0]}, std::move(list.servers), reply_to(services, exchange));
  return {};
}

using Act = Result<void> (*)(Services& services, const ExchangePtr& exchange);

void perform(Act act, Services& services, const ExchangePtr& exchange) {
  if (const auto done = act(services, exchange); !done)
    exchange->respond(error_response(done.error()));
}

}  // namespace

void get_mcp_servers(Services& services, const ExchangePtr& exchange) {
  perform(list_servers, services, exchange);
}

void post_mcp_login(Services& services, const ExchangePtr& exchange) {
  perform(begin_login, services, exchange);
}

void post_mcp_callback(Services& services, const ExchangePtr& exchange) {
  perform(finish_login, services, exchange);
}

void post_lent_servers(Services& services, const ExchangePtr& exchange) {
  perform(lend, services, exchange);
}

void delete_mcp_login(Services& services, const ExchangePtr& exchange) {
  perform(log_out, services, exchange);
}

}  // namespace agentrt::channels
