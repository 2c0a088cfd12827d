#include "runtime/mcp_servers.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "adapters/process/sandbox.h"
#include "runtime/config_file.h"
#include "runtime/sandbox.h"
#include "schema/json.h"
#include "schema/json_loose.h"

namespace agentrt::runtime {
namespace {

using schema::Json;

constexpr std::int64_t kNanoseconds = 1'000'000'000;

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

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

std::optional<std::string> wrong_time(const std::optional<std::uint64_t>& given,
                                      std::string_view key) {
  if (!given || (*given > 0 && *given <= kMcpTimeoutMaxMs)) return std::nullopt;
  return fmt::format("has a {} that is not 1 to {}.", key, kMcpTimeoutMaxMs);
}

Result<void> read_json_server(const Json& json, McpServerConfig& out) {
  JsonServer read;
  schema::Met met;
  if (!schema::read_loosely(json.text, read, met))
    return fail(Code::invalid_params, "must be an object.");
  if (!met.misfits.empty())
    return fail(Code::invalid_params, fmt::format("has a {} of the wrong form{}.",
                                                  met.misfits[0].member, met.misfits[0].what));
  if (!read.command && read.args)
    return fail(Code::invalid_params, "has args and no command; it must have a command or a url.");
  if (read.command) out.command.push_back(*read.command);
  if (read.args) out.command.insert(out.command.end(), read.args->begin(), read.args->end());
  out.url = read.url;
  out.type = read.type == "streamable-http" ? "http" : read.type;  // a spelling of some programs
  out.env = read.env.value_or(std::map<std::string, std::string>{});
  out.headers = read.headers.value_or(std::map<std::string, std::string>{});
  if (const auto wrong = wrong_server(out)) return fail(Code::invalid_params, *wrong);
  return {};
}

// Accepts http or https URLs with a host and without user name.
Result<void> check_url(std::string_view url) {
  std::string_view rest = url;
  for (const std::string_view scheme : {"http://", "https://"})
    if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (rest.size() == url.size() || host.empty() || host.find('@') != host.npos ||
      rest.find_first_of(" \\") != rest.npos || has_control(rest))
    return fail(Code::invalid_params, "its url must be like https://HOST/mcp, without a user name");
  return {};
}

Result<adapters::McpHttp> http_of(const McpServerConfig& server, const Environment& environment) {
  adapters::McpHttp out;
  if (server.type == "sse") out.kind = adapters::McpHttpKind::older;
  TRY_ASSIGN(out.url, expanded(*server.url, environment));
  TRY(check_url(out.url));
  for (const auto& [name, text] : server.headers) {
    TRY_ASSIGN(const std::string value, expanded(text, environment));
    if (has_control(value))
      return fail(Code::invalid_params, fmt::format("its header {} has a line break in it", name));
    out.headers.push_back(fmt::format("{}: {}", name, value));
  }
  if (!server.bearer_token_env) return out;
  const auto token = environment(*server.bearer_token_env);
  if (!token || token->empty() || has_control(*token))
    return fail(Code::not_found, fmt::format("the environment variable {} holds no token for it",
                                             *server.bearer_token_env));
  out.headers.push_back("Authorization: Bearer " + *token);
  return out;
}

// The sandbox profile of a stdio server. The server is the user's own program: it may access the
// user's files and the network within the limits of the host policy, unless its entry is stricter.
// It cannot access the runtime.
Result<schema::SandboxProfile> profile_of(const McpServerConfig& server, const Config& config,
                                          const std::string& cwd, const std::string& data,
                                          const Environment& environment) {
  SandboxChoice choice;
  choice.workspace = cwd;
  choice.mode =
      server.sandbox.value_or(config.managed_sandbox.value_or(schema::SandboxMode::full_access));
  choice.network = server.network.value_or(config.managed_network.value_or(true));
  if (*choice.network && config.managed_network == false)
    return fail(Code::invalid_params, "the host policy allows it no network");
  if (server.cwd) {
    TRY_ASSIGN(const std::string folder, expanded(*server.cwd, environment));
    choice.cwd =
        adapters::real_path((std::filesystem::path(cwd) / folder).lexically_normal().string());
    if (*choice.mode == schema::SandboxMode::full_access)
      choice.additional_roots.push_back(*choice.cwd);
  }
  TRY_ASSIGN(auto profile, sandbox_profile_of(config, choice, data, environment));
  profile.hidden_paths.push_back(config.sources.managed);
  if (config.sources.named)
    profile.hidden_paths.push_back(std::filesystem::absolute(*config.sources.named).string());
  return profile;
}

// The expanded command line and variables of the server; no sandbox profile yet.
Result<adapters::McpStdio> words_of(const McpServerConfig& server, const Environment& environment) {
  adapters::McpStdio out;
  for (const std::string& word : server.command) {
    TRY_ASSIGN(std::string text, expanded(word, environment));
    out.command.push_back(std::move(text));
  }
  for (const auto& [name, text] : server.env) {
    TRY_ASSIGN(const std::string value, expanded(text, environment));
    out.profile.environment.push_back(fmt::format("{}={}", name, value));
  }
  return out;
}

// Variables of the server's entry override those that every command gets.
Result<adapters::McpStdio> stdio_of(const McpServerConfig& server, const Config& config,
                                    const std::string& cwd, const std::string& data,
                                    const Environment& environment) {
  TRY_ASSIGN(adapters::McpStdio out, words_of(server, environment));
  std::vector<std::string> variables = std::move(out.profile.environment);
  TRY_ASSIGN(out.profile, profile_of(server, config, cwd, data, environment));
  for (const std::string& usual : out.profile.environment)
    if (!server.env.contains(usual.substr(0, usual.find('=')))) variables.push_back(usual);
  out.profile.environment = std::move(variables);
  return out;
}

adapters::McpServer server_of(const std::string& name, const McpServerConfig& server,
                              const Config& config, const std::string& cwd, const std::string& data,
                              const Environment& environment) {
  adapters::McpServer out;
  out.name = name;
  const auto set = [&out](auto way) {
    if (way)
      out.way = *std::move(way);
    else
      out.unusable = std::move(way).error().message;
  };
  if (server.url)
    set(http_of(server, environment));
  else
    set(stdio_of(server, config, cwd, data, environment));
  if (server.startup_timeout_ms)
    out.startup_timeout_ms = static_cast<std::int64_t>(*server.startup_timeout_ms);
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

using Unusable = std::map<std::string, std::string>;  // name -> reason

// Adds the servers of an untrusted file, at most kMcpServersMax of them.
void name_untrusted(const std::map<std::string, McpServerConfig>& servers, std::string_view file,
                    Trust trust, Unusable& out) {
  const std::string why =
      fmt::format("{} {}; `agentrt trust` shows it and trusts it", file,
                  trust == Trust::changed ? "changed since it was trusted" : "is not trusted");
  std::size_t named = 0;
  for (const auto& [name, _] : servers) {
    if (named++ == kMcpServersMax) break;
    out.try_emplace(std::string(schema::utf8_prefix(name, kMcpServerNameBytesMax)), why);
  }
  if (servers.size() > kMcpServersMax)
    out.try_emplace(std::string(file),
                    fmt::format("it has {} servers more", servers.size() - kMcpServersMax));
}

// Adds the servers of .mcp.json; a server of the configuration files takes precedence over one of
// the same name.
void add_workspace_servers(const ConfigSources& sources,
                           std::map<std::string, McpServerConfig>& servers, Unusable& out) {
  const auto file = read_workspace_file(sources.workspace, kServersFile, sources.trusted);
  if (!file) return (void)out.emplace(kServersFile, file.error().message);
  if (!*file) return;
  McpJson read = read_mcp_json((*file)->text);
  if ((*file)->trust != Trust::given) {
    for (const auto& [name, _] : read.wrong) read.servers[name];
    return name_untrusted(read.servers, kServersFile, (*file)->trust, out);
  }
  for (auto& [name, why] : read.wrong) out[name] = why;
  for (auto& [name, server] : read.servers) servers.try_emplace(name, std::move(server));
}

// Adds the servers of an untrusted workspace configuration, which load_config() ignored.
Result<void> name_passed_over(const ConfigSources& sources, Unusable& out) {
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

}  // namespace

std::optional<std::string> wrong_server(const McpServerConfig& server) {
  if (server.command.empty() == !server.url.has_value())
    return "must have either a command or a url.";
  if (server.type && *server.type != "stdio" && *server.type != "http" && *server.type != "sse")
    return "has a type that is none of stdio, http and sse.";
  if (server.type && server.url.has_value() == (*server.type == "stdio"))
    return "has a type that does not fit: stdio is for a command, http and sse for a url.";
  if (!server.url && server.command.front().empty()) return "has a command that is empty.";
  if (server.url && (!server.env.empty() || server.cwd || server.sandbox || server.network))
    return "has a url, so env, cwd, sandbox and network mean nothing; remove them.";
  if (!server.url && (!server.headers.empty() || server.bearer_token_env))
    return "has a command, so headers and bearer_token_env mean nothing; remove them.";
  for (const auto& [name, value] : server.env)
    if (!is_name(name)) return "has an env whose name is not one of a variable.";
  for (const auto& [name, value] : server.headers)
    if (!is_header_name(name)) return "has a header whose name is not one.";
  if (auto wrong = wrong_time(server.startup_timeout_ms, "startup_timeout_ms")) return wrong;
  return wrong_time(server.tool_timeout_ms, "tool_timeout_ms");
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
                  fmt::format("the environment variable {} that it uses is not set", name));
    rest.remove_prefix(end + 1);
  }
}

std::optional<std::string> unready(const McpServerConfig& server, const Environment& environment) {
  if (server.url) {
    const auto http = http_of(server, environment);
    return http ? std::nullopt : std::optional(http.error().message);
  }
  const auto program = words_of(server, environment);
  return program ? std::nullopt : std::optional(program.error().message);
}

McpServers::McpServers(ConfigSources sources, TrustRecords& records, std::string data,
                       Environment environment)
    : sources_(std::move(sources)),
      records_(records),
      data_(std::move(data)),
      environment_(std::move(environment)) {}

McpServers::Stamp McpServers::stamp_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {errno};
  return {0,
          static_cast<std::int64_t>(found.st_ino),
          found.st_size,
          found.st_mtim.tv_sec * kNanoseconds + found.st_mtim.tv_nsec,
          found.st_ctim.tv_sec * kNanoseconds + found.st_ctim.tv_nsec,
          static_cast<std::int64_t>(found.st_dev)};
}

McpServers::Stamps McpServers::stamps() const {
  return {stamp_of(sources_.managed),
          stamp_of(sources_.named ? *sources_.named : sources_.user.value_or(""))};
}

Result<std::vector<adapters::McpServer>> McpServers::of(const std::string& cwd) {
  const bool bare = is_absent(cwd, kServersFile) && is_absent(cwd, kWorkspaceFile);
  const Stamps now = stamps();
  if (bare) {
    const std::lock_guard lock(mutex_);
    if (without_ == now) return std::vector<adapters::McpServer>{};
  }
  ConfigSources sources = sources_;
  sources.workspace = real_workspace(cwd);
  TRY_ASSIGN(sources.trusted, records_.of(sources.workspace));
  TRY_ASSIGN(const Config config, load_config(sources));
  std::map<std::string, McpServerConfig> servers = config.mcp_servers;
  if (bare && servers.empty()) {
    const std::lock_guard lock(mutex_);
    without_ = now;
  }
  Unusable left_out;
  TRY(name_passed_over(sources, left_out));
  add_workspace_servers(sources, servers, left_out);
  std::vector<adapters::McpServer> out;
  for (const auto& [name, server] : servers) {
    if (!server.enabled) continue;
    if (name.empty() || name.size() > kMcpServerNameBytesMax)
      out.push_back(
          unusable(name, fmt::format("its name must have 1 to {} bytes", kMcpServerNameBytesMax)));
    else if (out.size() >= kMcpServersMax)
      out.push_back(unusable(name, fmt::format("{} servers are the most", kMcpServersMax)));
    else
      out.push_back(server_of(name, server, config, sources.workspace, data_, environment_));
  }
  for (const auto& [name, why] : left_out)
    if (!servers.contains(name)) out.push_back(unusable(name, why));
  return out;
}

std::vector<std::string> secret_names_of(const std::map<std::string, McpServerConfig>& servers) {
  std::vector<std::string> names;
  const Environment heard = [&names](std::string_view name) {
    names.emplace_back(name);
    return std::optional<std::string>("heard");
  };
  for (const auto& [_, server] : servers) {
    if (server.bearer_token_env) names.push_back(*server.bearer_token_env);
    for (const auto& [name, text] : server.headers) (void)expanded(text, heard);
  }
  return names;
}

}  // namespace agentrt::runtime
