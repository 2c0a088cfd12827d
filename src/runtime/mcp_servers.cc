#include "runtime/mcp_servers.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "adapters/mcp/login/login_files.h"
#include "base/real_path.h"
#include "config/sandbox.h"
#include "runtime/data_folder.h"
#include "runtime/system_clock.h"

namespace agentrt::runtime {
namespace {

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

// Accepts http or https URLs with a host and without user name.
Result<void> check_url(std::string_view url) {
  std::string_view rest = url;
  for (const std::string_view scheme : {"http://", "https://"})
    if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (rest.size() == url.size() || host.empty() || host.find('@') != host.npos ||
      rest.find_first_of(" \\") != rest.npos || has_control(rest))
    return fail(Code::invalid_params,
                "its url must look like https://HOST/mcp, without a user name");
  return {};
}

bool has_authorization(const config::McpServerConfig& server) {
  return std::ranges::any_of(server.headers, [](const auto& header) {
    std::string name = header.first;
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return name == "authorization";
  });
}

// How connections to the server log in; nullopt: they do not, because it authenticates otherwise.
Result<std::optional<adapters::McpOauth>> oauth_of(const config::McpServerConfig& server,
                                                   const config::McpConfig& mcp,
                                                   const config::Environment& environment) {
  const config::McpOauthConfig config = server.oauth.value_or(config::McpOauthConfig{});
  if (!config.enabled || server.bearer_token_env || has_authorization(server)) return std::nullopt;
  adapters::McpOauth out;
  if (config.grant == config::OauthGrant::client_credentials)
    out.grant = adapters::OauthGrant::client_credentials;
  out.scopes = config.scopes;
  out.client_metadata_url = mcp.client_metadata_url;
  out.redirect_port = static_cast<std::uint16_t>(config.redirect_port);
  out.algorithm = jwt_algorithm_of(config.signing_algorithm.value_or("")).value_or(out.algorithm);
  const auto expand = [&](const std::optional<std::string>& text,
                          std::optional<std::string>& to) -> Result<void> {
    if (!text) return {};
    TRY_ASSIGN(to, config::expanded(*text, environment));
    return {};
  };
  TRY(expand(config.client_id, out.client_id));
  TRY(expand(config.private_key_file, out.private_key_file));
  TRY(expand(config.authorization_server, out.authorization_server));
  if (!config.client_secret_env) return out;
  out.client_secret = environment(*config.client_secret_env);
  if (!out.client_secret || out.client_secret->empty())
    return fail(Code::not_found,
                fmt::format("the environment variable {} does not contain a client secret",
                            *config.client_secret_env));
  return out;
}

Result<adapters::McpHttp> http_of(const config::McpServerConfig& server,
                                  const config::McpConfig& mcp,
                                  const config::Environment& environment) {
  adapters::McpHttp out;
  TRY_ASSIGN(out.oauth, oauth_of(server, mcp, environment));
  if (server.type == "sse") out.kind = adapters::McpHttpKind::older;
  TRY_ASSIGN(out.url, config::expanded(*server.url, environment));
  TRY(check_url(out.url));
  for (const auto& [name, text] : server.headers) {
    TRY_ASSIGN(const std::string value, config::expanded(text, environment));
    if (has_control(value))
      return fail(Code::invalid_params,
                  fmt::format("its header {} contains a control character", name));
    out.headers.push_back(fmt::format("{}: {}", name, value));
  }
  if (!server.bearer_token_env) return out;
  const auto token = environment(*server.bearer_token_env);
  if (!token || token->empty() || has_control(*token))
    return fail(Code::not_found, fmt::format("the environment variable {} does not contain a token",
                                             *server.bearer_token_env));
  out.headers.push_back("Authorization: Bearer " + *token);
  return out;
}

// The sandbox profile of a stdio server. The server is the user's own program: it may access the
// user's files and the network within the limits of the host policy, unless its entry is stricter.
// It cannot access the runtime.
Result<schema::SandboxProfile> profile_of(const config::McpServerConfig& server,
                                          const config::Config& config, const std::string& cwd,
                                          const std::string& data,
                                          const config::Environment& environment) {
  config::SandboxChoice choice;
  choice.workspace = cwd;
  choice.mode =
      server.sandbox.value_or(config.managed_sandbox.value_or(schema::SandboxMode::full_access));
  choice.network = server.network.value_or(config.managed_network.value_or(true));
  if (*choice.network && config.managed_network == false)
    return fail(Code::invalid_params, "the managed configuration does not allow network access");
  if (server.cwd) {
    TRY_ASSIGN(const std::string folder, config::expanded(*server.cwd, environment));
    choice.cwd = real_path((std::filesystem::path(cwd) / folder).lexically_normal().string());
    if (*choice.mode == schema::SandboxMode::full_access)
      choice.additional_roots.push_back(*choice.cwd);
  }
  TRY_ASSIGN(auto profile, config::sandbox_profile_of(config, choice, data, environment));
  profile.hidden_paths.push_back(config.sources.managed);
  if (config.sources.named)
    profile.hidden_paths.push_back(std::filesystem::absolute(*config.sources.named).string());
  return profile;
}

// The expanded command line and variables of the server; no sandbox profile yet.
Result<adapters::McpStdio> words_of(const config::McpServerConfig& server,
                                    const config::Environment& environment) {
  adapters::McpStdio out;
  for (const std::string& word : server.command) {
    TRY_ASSIGN(std::string text, config::expanded(word, environment));
    out.command.push_back(std::move(text));
  }
  for (const auto& [name, text] : server.env) {
    TRY_ASSIGN(const std::string value, config::expanded(text, environment));
    out.profile.environment.push_back(fmt::format("{}={}", name, value));
  }
  return out;
}

// Variables of the server's entry override those that every command gets.
Result<adapters::McpStdio> stdio_of(const config::McpServerConfig& server,
                                    const config::Config& config, const std::string& cwd,
                                    const std::string& data,
                                    const config::Environment& environment) {
  TRY_ASSIGN(adapters::McpStdio out, words_of(server, environment));
  std::vector<std::string> variables = std::move(out.profile.environment);
  TRY_ASSIGN(out.profile, profile_of(server, config, cwd, data, environment));
  for (const std::string& usual : out.profile.environment)
    if (!server.env.contains(usual.substr(0, usual.find('=')))) variables.push_back(usual);
  out.profile.environment = std::move(variables);
  return out;
}

adapters::McpServer server_of(const std::string& name, const config::McpServerConfig& server,
                              const config::Config& config, const std::string& cwd,
                              const std::string& data, const config::Environment& environment) {
  adapters::McpServer out;
  out.name = name;
  const auto set = [&out](auto way) {
    if (way)
      out.way = *std::move(way);
    else
      out.unusable = std::move(way).error().message;
  };
  if (server.url)
    set(http_of(server, config.mcp, environment));
  else
    set(stdio_of(server, config, cwd, data, environment));
  if (server.startup_ms) out.startup_ms = static_cast<std::int64_t>(*server.startup_ms);
  if (server.wait_ms) out.wait_ms = static_cast<std::int64_t>(*server.wait_ms);
  if (server.tool_timeout_ms)
    out.tool_timeout_ms = static_cast<std::int64_t>(*server.tool_timeout_ms);
  out.tools = server.tools;
  out.disabled_tools = server.disabled_tools;
  return out;
}

adapters::McpServer unusable(std::string name, std::string why) {
  adapters::McpServer out;
  out.name = std::move(name);
  out.unusable = std::move(why);
  return out;
}

bool is_absent(const std::string& folder, std::string_view name) {
  struct stat found{};
  return ::lstat(fmt::format("{}/{}", folder, name).c_str(), &found) != 0 &&
         (errno == ENOENT || errno == ENOTDIR);
}

// Whether the folder has no files that could configure servers.
bool is_bare(const std::string& cwd) {
  return is_absent(cwd, config::kServersFile) && is_absent(cwd, config::kWorkspaceFile);
}

}  // namespace

std::optional<std::string> unready(const config::McpServerConfig& server,
                                   const config::Environment& environment) {
  if (server.url) {
    const auto http = http_of(server, {}, environment);
    return http ? std::nullopt : std::optional(http.error().message);
  }
  const auto program = words_of(server, environment);
  return program ? std::nullopt : std::optional(program.error().message);
}

std::optional<bool> logged_in(const std::string& data, const std::string& url) {
  const auto parsed = parse_url(url);
  std::optional<bool> out;
  if (!parsed) return out;
  for (const auto& login : adapters::LoginFiles(mcp_logins_path(data)).read().logins) {
    if (login.server != adapters::canonical_url(*parsed)) continue;
    const auto& tokens = login.tokens;
    const bool valid = tokens && (tokens->refresh_token || !tokens->expires_at ||
                                  *tokens->expires_at > SystemClock::now());
    out = out.value_or(false) || valid;
  }
  return out;
}

McpServers::McpServers(config::ConfigSources sources, config::TrustRecords& records,
                       std::string data, config::Environment environment)
    : sources_(std::move(sources)),
      records_(records),
      data_(std::move(data)),
      environment_(std::move(environment)) {
  sources_.workspace.clear();
  sources_.trusted.clear();
}

Result<std::vector<adapters::McpServer>> McpServers::of(const std::string& cwd) {
  const bool bare = is_bare(cwd);
  std::vector<config::FileMark> now = config::marks_of(sources_);
  if (bare) {
    const std::lock_guard lock(mutex_);
    if (without_ == now) return std::vector<adapters::McpServer>{};
  }
  TRY_ASSIGN(auto out, read(cwd));
  std::erase_if(out, [](const adapters::McpServer& server) { return server.disabled; });
  if (bare && out.empty()) {
    const std::lock_guard lock(mutex_);
    if (config::settled(now, SystemClock::now().ms)) without_ = std::move(now);
  }
  return out;
}

Result<std::vector<adapters::McpServer>> McpServers::listed(const std::string& cwd) {
  return read(cwd);
}

adapters::McpServer McpServers::lent(const std::string& cwd, const ports::LentMcpServer& server) {
  config::McpServerConfig out;
  if (server.url) {
    out.url = server.url;
    out.type = server.type;
    for (const auto& [name, value] : server.headers.value_or(std::vector<ports::NamedText>{}))
      out.headers[name] = value;
  } else {
    out.command.push_back(server.command.value_or(""));
    const auto args = server.args.value_or(std::vector<std::string>{});
    out.command.insert(out.command.end(), args.begin(), args.end());
    for (const auto& [name, value] : server.env.value_or(std::vector<ports::NamedText>{}))
      out.env[name] = value;
  }
  if (const auto wrong = config::wrong_server(out))
    return unusable(server.name, fmt::format("the editor's entry {}", *wrong));
  const auto config = config::load_config(sources_);
  if (!config) return unusable(server.name, config.error().message);
  // The editor's texts are final: nothing in them names a variable of the runtime.
  const config::Environment none = [](std::string_view name) {
    return std::optional<std::string>(fmt::format("${{{}}}", name));
  };
  return server_of(server.name, out, *config, config::real_workspace(cwd), data_,
                   out.url ? none : environment_);
}

Result<std::vector<adapters::McpServer>> McpServers::read(const std::string& cwd) {
  config::ConfigSources sources = sources_;
  if (!cwd.empty()) {
    sources.workspace = config::real_workspace(cwd);
    TRY_ASSIGN(sources.trusted, records_.of(sources.workspace));
  }
  TRY_ASSIGN(const config::Config config, config::load_config(sources));
  std::map<std::string, config::McpServerConfig> servers = config.mcp_servers;
  config::UnusableServers left_out;
  if (!cwd.empty()) {
    TRY(config::name_passed_over(sources, left_out));
    config::add_workspace_servers(sources, servers, left_out);
  }
  std::vector<adapters::McpServer> out;
  std::size_t enabled = 0;
  for (const auto& [name, server] : servers) {
    if (name.empty() || name.size() > config::kMcpServerNameBytesMax)
      out.push_back(unusable(
          name, fmt::format("its name must have 1 to {} bytes", config::kMcpServerNameBytesMax)));
    else if (server.enabled && ++enabled > config::kMcpServersMax)
      out.push_back(unusable(
          name, fmt::format("there are more than {} MCP servers", config::kMcpServersMax)));
    else
      out.push_back(server_of(name, server, config, sources.workspace, data_, environment_));
    out.back().disabled = !server.enabled;
  }
  for (const auto& [name, server] : left_out) {
    if (servers.contains(name)) continue;
    out.push_back(unusable(name, server.why));
    out.back().untrusted = server.untrusted;
  }
  return out;
}

}  // namespace agentrt::runtime
