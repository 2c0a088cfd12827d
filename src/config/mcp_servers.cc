#include "config/mcp_servers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/jwt.h"
#include "config/config_file.h"
#include "schema/json.h"
#include "schema/json_loose.h"

namespace agentrt::config {
namespace {

using schema::Json;

constexpr std::uint64_t kPortMax = 65'535;
constexpr std::size_t kScopesMax = 100;

// .mcp.json, a format shared with other programs; unknown members are ignored.
struct JsonFile {
  std::optional<std::map<std::string, Json>> mcp_servers;
};
BOOST_DESCRIBE_STRUCT(JsonFile, (), (mcp_servers))

struct JsonServer {
  std::optional<std::string> type;
  std::optional<std::string> command;
  std::optional<std::vector<std::string>> args;
  std::optional<std::map<std::string, std::string>> env;
  std::optional<std::string> url;
  std::optional<std::map<std::string, std::string>> headers;
};
BOOST_DESCRIBE_STRUCT(JsonServer, (), (type, command, args, env, url, headers))

bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
         std::ranges::all_of(text, plain);
}

bool is_header_name(std::string_view text) {
  const auto plain = [](char c) { return c > ' ' && c < 0x7f && c != ':'; };
  return !text.empty() && std::ranges::all_of(text, plain);
}

std::optional<std::string> wrong_time(const std::optional<std::uint64_t>& given,
                                      std::string_view key) {
  if (!given || (*given > 0 && *given <= kMcpTimeoutMaxMs)) return std::nullopt;
  return fmt::format("has a {} that is not from 1 to {}.", key, kMcpTimeoutMaxMs);
}

Result<void> read_json_server(const Json& json, McpServerConfig& out) {
  JsonServer read;
  schema::Met met;
  if (!schema::read_loosely(json.text, read, met))
    return fail(Code::invalid_params, "must be an object.");
  if (!met.misfits.empty())
    return fail(Code::invalid_params, fmt::format("has a {} of the wrong type{}.",
                                                  met.misfits[0].member, met.misfits[0].what));
  if (!read.command && read.args)
    return fail(Code::invalid_params, "has args but no command; give it a command or a url.");
  if (read.command) out.command.push_back(*read.command);
  if (read.args) out.command.insert(out.command.end(), read.args->begin(), read.args->end());
  out.url = read.url;
  out.type = read.type == "streamable-http" ? "http" : read.type;  // a spelling of some programs
  out.env = read.env.value_or(std::map<std::string, std::string>{});
  out.headers = read.headers.value_or(std::map<std::string, std::string>{});
  if (const auto wrong = wrong_server(out)) return fail(Code::invalid_params, *wrong);
  return {};
}

// Adds the servers of an untrusted file, at most kMcpServersMax of them.
void name_untrusted(const std::map<std::string, McpServerConfig>& servers, std::string_view file,
                    Trust trust, UnusableServers& out) {
  const std::string why =
      fmt::format("{} {}; trust it with `agentrt trust`", file,
                  trust == Trust::changed ? "has changed since it was trusted" : "is not trusted");
  std::size_t named = 0;
  for (const auto& [name, _] : servers) {
    if (named++ == kMcpServersMax) break;
    out.try_emplace(std::string(schema::utf8_prefix(name, kMcpServerNameBytesMax)),
                    UnusableServer{why, true});
  }
  if (servers.size() > kMcpServersMax)
    out.try_emplace(std::string(file), UnusableServer{fmt::format("it has {} more servers",
                                                                  servers.size() - kMcpServersMax),
                                                      true});
}

}  // namespace

std::optional<std::string> wrong_server(const McpServerConfig& server) {
  if (server.command.empty() == !server.url.has_value())
    return "must have either a command or a url.";
  if (server.type && *server.type != "stdio" && *server.type != "http" && *server.type != "sse")
    return "has a type other than stdio, http and sse.";
  if (server.type && server.url.has_value() == (*server.type == "stdio"))
    return "has the wrong type: stdio needs a command, http and sse need a url.";
  if (!server.url && server.command.front().empty()) return "has an empty command.";
  if (server.url && (!server.env.empty() || server.cwd || server.sandbox || server.network))
    return "has a url, so env, cwd, sandbox and network have no effect; remove them.";
  if (!server.url && (!server.headers.empty() || server.bearer_token_env))
    return "has a command, so headers and bearer_token_env have no effect; remove them.";
  if (!server.url && server.oauth) return "has a command, so oauth has no effect; remove it.";
  for (const auto& [name, value] : server.env)
    if (!is_name(name)) return "has an env with an invalid variable name.";
  for (const auto& [name, value] : server.headers)
    if (!is_header_name(name)) return "has a header with an invalid name.";
  if (auto wrong = wrong_time(server.startup_ms, "startup_ms")) return wrong;
  if (server.wait_ms != 0)
    if (auto wrong = wrong_time(server.wait_ms, "wait_ms")) return wrong;
  return wrong_time(server.tool_timeout_ms, "tool_timeout_ms");
}

std::optional<std::string> wrong_oauth(const McpOauthConfig& oauth) {
  const auto& algorithm = oauth.signing_algorithm;
  if (algorithm && !jwt_algorithm_of(*algorithm))
    return "has a signing_algorithm other than ES256 and RS256.";
  if (algorithm && !oauth.private_key_file)
    return "has a signing_algorithm but no private_key_file.";
  if (oauth.client_secret_env && oauth.private_key_file)
    return "has both client_secret_env and private_key_file; remove one.";
  if ((oauth.client_secret_env || oauth.private_key_file) && !oauth.client_id)
    return "has a secret or key but no client_id.";
  if (oauth.grant == OauthGrant::client_credentials && !oauth.client_secret_env &&
      !oauth.private_key_file)
    return "has the grant client_credentials, which needs client_id, and client_secret_env or "
           "private_key_file.";
  if (oauth.redirect_port > kPortMax) return "has a redirect_port that is not a port.";
  if (oauth.scopes.size() > kScopesMax) return fmt::format("has more than {} scopes.", kScopesMax);
  return std::nullopt;
}

McpJson read_mcp_json(const std::string& text) {
  McpJson out;
  JsonFile file;
  schema::Met met;
  const auto valid = schema::check_json(text);
  if (!valid || !schema::read_loosely(text, file, met) || !file.mcp_servers) {
    out.wrong[std::string(kServersFile)] =
        valid ? "it has no object mcpServers" : "it is not valid JSON: " + valid.error().message;
    return out;
  }
  for (const auto& [name, json] : *file.mcp_servers) {
    McpServerConfig server;
    if (const auto read = read_json_server(json, server); !read)
      out.wrong[name] = fmt::format("its entry in {} {}", kServersFile, read.error().message);
    else
      out.servers.emplace(name, std::move(server));
  }
  return out;
}

Result<std::string> expanded(const std::string& text, const Environment& environment) {
  std::string out;
  std::string_view rest = text;
  for (;;) {
    const std::size_t begin = rest.find("${");
    const std::size_t end = begin == rest.npos ? rest.npos : rest.find('}', begin);
    out += rest.substr(0, end == rest.npos ? rest.npos : begin);
    if (end == rest.npos) return out;
    const std::string_view inner = rest.substr(begin + 2, end - begin - 2);
    const std::size_t otherwise = inner.find(":-");
    const std::string name(inner.substr(0, otherwise));
    const auto value = environment(name);
    if (value && !value->empty())
      out += *value;
    else if (otherwise != inner.npos)
      out += inner.substr(otherwise + 2);
    else if (value)
      out += *value;
    else
      return fail(Code::not_found,
                  fmt::format("it uses the environment variable {}, which is not set", name));
    rest.remove_prefix(end + 1);
  }
}

void add_workspace_servers(const ConfigSources& sources,
                           std::map<std::string, McpServerConfig>& servers, UnusableServers& out) {
  const auto file = read_workspace_file(sources.workspace, kServersFile, sources.trusted);
  if (!file)
    return (void)out.emplace(std::string(kServersFile), UnusableServer{file.error().message});
  if (!*file) return;
  McpJson read = read_mcp_json((*file)->text);
  if ((*file)->trust != Trust::given) {
    for (const auto& [name, _] : read.wrong) read.servers[name];
    return name_untrusted(read.servers, kServersFile, (*file)->trust, out);
  }
  for (auto& [name, why] : read.wrong) out[name] = {why};
  for (auto& [name, server] : read.servers) servers.try_emplace(name, std::move(server));
}

Result<void> name_passed_over(const ConfigSources& sources, UnusableServers& out) {
  TRY_ASSIGN(const auto file,
             read_workspace_file(sources.workspace, kWorkspaceFile, sources.trusted));
  if (!file || file->trust == Trust::given) return {};
  TRY_ASSIGN(const ConfigLayer layer, read_config_text(file->text, file->path));
  std::map<std::string, McpServerConfig> servers;
  for (const auto& [name, server] : layer.mcp_servers)
    if (server.value.enabled) servers[name] = server.value;
  name_untrusted(servers, kWorkspaceFile, file->trust, out);
  return {};
}

std::vector<std::string> secret_names_of(const std::map<std::string, McpServerConfig>& servers) {
  std::vector<std::string> names;
  const Environment heard = [&names](std::string_view name) {
    names.emplace_back(name);
    return std::optional<std::string>("heard");
  };
  for (const auto& [_, server] : servers) {
    if (server.bearer_token_env) names.push_back(*server.bearer_token_env);
    if (server.oauth && server.oauth->client_secret_env)
      names.push_back(*server.oauth->client_secret_env);
    for (const auto& [name, text] : server.headers) (void)expanded(text, heard);
  }
  return names;
}

}  // namespace agentrt::config
