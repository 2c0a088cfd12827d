#include "channels/routes.h"

#include <array>

#include <fmt/format.h>

#include "channels/authorization.h"
#include "channels/handlers/handlers.h"

namespace agentrt::channels {
namespace {

constexpr std::array kRoutes{
    Route{Method::post, "/v1/commands/{command}", Access::by_command, post_command},
    Route{Method::post, "/v1/rpc", Access::by_call, post_rpc},
    Route{Method::get, "/v1/sessions", Access::read, get_sessions},
    Route{Method::get, "/v1/sessions/{id}", Access::read, get_session},
    Route{Method::get, "/v1/sessions/{id}/threads/{id}", Access::read, get_thread},
    Route{Method::get, "/v1/sessions/{id}/models/{name}", Access::read, get_model},
    Route{Method::get, "/v1/sessions/{id}/events", Access::read, get_session_events},
    Route{Method::get, "/v1/events", Access::read, get_all_events},
    Route{Method::get, "/v1/ws", Access::by_call, get_websocket},
    Route{Method::post, "/v1/outputs", Access::submit, post_output, begin_output},
    Route{Method::get, "/v1/outputs/{ref}", Access::read, get_output},
    Route{Method::post, "/v1/tokens", Access::admin, post_token},
    Route{Method::get, "/v1/tokens", Access::admin, get_tokens},
    Route{Method::delete_, "/v1/tokens/{id}", Access::admin, delete_token},
    Route{Method::post, "/v1/login-codes", Access::any_token, post_login_code},
    Route{Method::post, "/v1/login", Access::open, post_login},
    Route{Method::get, "/v1/token", Access::any_token, get_own_token},
    Route{Method::delete_, "/v1/token", Access::any_token, delete_own_token},
    Route{Method::get, "/v1/mcp/servers", Access::read, get_mcp_servers},
    Route{Method::post, "/v1/mcp/logins", Access::admin, post_mcp_login},
    Route{Method::post, "/v1/mcp/logins/{id}", Access::admin, post_mcp_callback},
    Route{Method::delete_, "/v1/mcp/logins", Access::admin, delete_mcp_login},
    Route{Method::post, "/mcp", Access::any_token, post_mcp},
    Route{Method::get, "/mcp", Access::any_token, get_mcp},
    Route{Method::delete_, "/mcp", Access::any_token, delete_mcp},
    Route{Method::post, "/agui", Access::submit, post_agui},
    Route{Method::get, "/", Access::open, get_page},
    Route{Method::get, "/assets/{name}", Access::open, get_asset},
    Route{Method::post, "/v1/turns/{id}/environment", Access::submit, post_environment, nullptr,
          true},
    Route{Method::post, "/v1/sessions/{id}/mcp-servers", Access::admin, post_lent_servers, nullptr,
          true},
    Route{Method::get, "/v1/environments", Access::admin, get_environments, nullptr, true},
    Route{Method::post, "/v1/owner/leave", Access::admin, post_leave, nullptr, true},
    Route{Method::get, "/healthz", Access::open, get_health},
    Route{Method::get, "/readyz", Access::open, get_readiness},
    Route{Method::get, "/metrics", Access::read, get_metrics},
    Route{Method::get, "/openapi.json", Access::read, get_openapi},
    Route{Method::get, "/schemas/{name}", Access::read, get_schema},
};

bool fits(std::string_view pattern, const std::vector<std::string>& path,
          std::vector<std::string>& ids) {
  ids.clear();
  std::size_t at = 0;
  if (pattern == "/") return path.empty();
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the slash
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    const std::string_view segment = pattern.substr(0, end);
    pattern.remove_prefix(end);
    if (at == path.size()) return false;
    const std::string& given = path[at++];
    if (segment.starts_with('{'))
      ids.push_back(given);
    else if (segment != given)
      return false;
  }
  return at == path.size();
}

std::string_view method_names(Method method) {
  switch (method) {
    case Method::get:
      return "GET, HEAD";
    case Method::post:
      return "POST";
    case Method::delete_:
      return "DELETE";
    default:
      return "";
  }
}

TokenScope scope_of(Access access) {
  switch (access) {
    case Access::read:
      return TokenScope::read;
    case Access::submit:
      return TokenScope::submit;
    case Access::approve:
      return TokenScope::approve;
    default:
      return TokenScope::admin;
  }
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

RouteMatch match_route(Method method, const std::vector<std::string>& path) {
  const Method sought = method == Method::head ? Method::get : method;
  RouteMatch match;
  for (const Route& route : kRoutes) {
    if (!fits(route.pattern, path, match.ids)) continue;
    if (route.method == sought) {
      match.route = &route;
      match.allow.clear();
      return match;
    }
    if (!match.allow.empty()) match.allow += ", ";
    match.allow += method_names(route.method);
  }
  return match;
}

Result<void> check_access(const RouteMatch& match, const Identity* identity, bool local) {
  if (match.route && match.route->access == Access::open) return {};
  if (!identity) return Authorization::check_scope(identity, TokenScope::read);
  if (!match.route && match.allow.empty()) return fail(Code::not_found, "there is no such route");
  if (!match.route)
    return fail(Code::method_not_allowed, fmt::format("this route takes {}", match.allow));
  const Access access = match.route->access;
  if (access == Access::by_call || access == Access::any_token) return {};
  if (match.route->local) {
    TRY(Authorization::check_scope(identity, scope_of(access)));
    if (!local) return fail(Code::not_found, "there is no such route");
    return {};
  }
  if (access != Access::by_command) return Authorization::check_scope(identity, scope_of(access));
  const std::string& name = match.ids.front();
  const schema::CommandTraits* const traits = schema::find_command(name);
  if (!traits) return fail(Code::not_found, fmt::format("there is no command {}", name));
  return Authorization::check_scope(identity, traits->scope, traits->name);
}

}  // namespace agentrt::channels
