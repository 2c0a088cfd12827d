// cli/doctor.cc: `agentrt doctor`: checks this machine and suggests a remedy for each problem.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/tls.h"
#include "cli/mcp/replies.h"
#include "cli/programs.h"
#include "cli/verbs.h"
#include "cli/views/checkup.h"
#include "config/mcp_servers.h"
#include "config/models.h"
#include "config/sandbox.h"
#include "runtime/data_folder.h"
#include "runtime/mcp_servers.h"
#include "runtime/sandbox.h"
#include "runtime/store_check.h"

namespace agentrt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDiskBytesMin = 256ull << 20;
constexpr rlim_t kOpenFilesMin = 1'024;
// 2025-01-01: an earlier time means that the clock is not set
constexpr std::int64_t kClockMin = 1'735'689'600'000;
constexpr std::int64_t kClockSlackMs = 60'000;

// The folder itself, or its nearest existing ancestor.
std::string nearest_folder(const std::string& data) {
  fs::path path(data);
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path.string();
}

Check check_folder(const std::string& data) {
  const std::string nearest = nearest_folder(data);
  if (::access(nearest.c_str(), W_OK | X_OK) != 0)
    return {"data folder", Health::bad,
            fmt::format("{}: {}", nearest, std::generic_category().message(errno)),
            "make it writable, or choose another folder with --data"};
  return {"data folder", Health::good, nearest == data ? data : data + " (not created yet)", ""};
}

Check check_owner(const std::string& data) {
  const auto owner = runtime::read_owner(data);
  if (!owner)
    return {"owner", Health::bad, owner.error().message, "check the folder's permissions"};
  if (!*owner) return {"owner", Health::good, "none; the next command starts one", ""};
  const bool background = (*owner)->kind == runtime::OwnerKind::background;
  const std::string who = fmt::format(
      "process {}, {}", (*owner)->pid,
      background ? std::string("in the background; agentrt stop ends it")
                 : "agentrt serve" + ((*owner)->url ? " on " + *(*owner)->url : std::string()));
  const Client client(runtime::socket_path(data), "");
  if (const auto ready = client.ask("GET", "/readyz", ""); !ready)
    return {"owner", Health::bad, who + " does not answer: " + ready.error().message,
            fmt::format("stop process {} and run the command again", (*owner)->pid)};
  return {"owner", Health::good, who + ", ready", ""};
}

Check check_store(const std::string& data) {
  const auto report = runtime::check_store(data);
  if (!report) return {"store", Health::bad, report.error().message, "see docs/log_format.md"};
  if (!report->exists) return {"store", Health::good, "not created yet", ""};
  return {"store", Health::good, fmt::format("{}, version {}", report->path, report->version), ""};
}

Check check_sqlite() {
  const auto version = runtime::sqlite_version();
  if (!version) return {"sqlite", Health::bad, version.error().message, "install libsqlite3-0"};
  return {"sqlite", Health::good, *version, ""};
}

Check check_disk(const std::string& data) {
  struct statvfs found{};
  if (::statvfs(nearest_folder(data).c_str(), &found) != 0)
    return {"disk space", Health::bad, std::generic_category().message(errno), "check the disk"};
  const std::uint64_t free = std::uint64_t{found.f_bavail} * found.f_frsize;
  const std::string text = fmt::format("{} MiB free", free >> 20);
  if (free < kDiskBytesMin)
    return {"disk space", Health::bad, text,
            fmt::format("free at least {} MiB; new turns are refused when the disk is full",
                        kDiskBytesMin >> 20)};
  return {"disk space", Health::good, text, ""};
}

Check check_file_system(const std::string& data) {
  const std::string nearest = nearest_folder(data);
  struct statfs found{};
  ::statfs(nearest.c_str(), &found);
  if (const auto fine = runtime::check_store_folder(nearest); !fine)
    return {"file system", Health::bad, fine.error().message,
            "choose a folder on a local disk with --data"};
  return {"file system", Health::good,
          fmt::format("local (type 0x{:x})", static_cast<unsigned long>(found.f_type)), ""};
}

Check check_clock(const std::string& data) {
  const Timestamp now = now_of_clock();
  if (now.ms < kClockMin)
    return {"clock", Health::bad, format(now), "set the clock; it is years behind"};
  struct stat found{};
  if (::stat(runtime::store_path(data).c_str(), &found) == 0 &&
      found.st_mtim.tv_sec * 1'000 > now.ms + kClockSlackMs)
    return {"clock", Health::bad, format(now) + ", earlier than the last write to the store",
            "set the clock; timestamps of events never go back"};
  return {"clock", Health::good, format(now), ""};
}

Check check_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string text = fmt::format("{} (hard limit {})", limit.rlim_cur, limit.rlim_max);
  if (limit.rlim_cur < kOpenFilesMin)
    return {"open files", Health::bad, text,
            fmt::format("raise the limit: ulimit -n {}", kOpenFilesMin)};
  return {"open files", Health::good, text, ""};
}

Check check_model(const std::string& name, const config::ModelConfig& model,
                  const config::Environment& environment) {
  if (model.provider == "script") {
    const bool readable = ::access(model.script.c_str(), R_OK) == 0;
    return {"model " + name, readable ? Health::good : Health::bad, "script " + model.script,
            readable ? "" : "check the path of the script; the file cannot be read"};
  }
  const std::string what =
      fmt::format("{} {} at {}", model.provider, model.model, model.base_url.value_or(""));
  if (const auto variable = config::missing_key(model, environment))
    return {"model " + name, Health::bad, what + ", API key missing",
            fmt::format("set {} to the API key", *variable)};
  return {"model " + name, Health::good,
          what + (model.api_key_env ? ", API key from " + *model.api_key_env
                                    : std::string(", no API key needed")),
          ""};
}

// Which hooks of another agent's hook file are supported.
std::string describe_hook_file(const config::HookFile& file) {
  std::string text =
      fmt::format("{}: {} hook{}{}", file.path, file.hooks, file.hooks == 1 ? "" : "s",
                  file.counts || file.hooks == 0 ? "" : ", not run until the file is trusted");
  if (!file.unmapped.empty()) text += fmt::format("; {}", fmt::join(file.unmapped, "; "));
  return text;
}

void check_hooks(const config::Config& config, std::vector<Check>& checks) {
  std::map<std::string, int> points;
  for (const schema::HookSpec& hook : config.hooks)
    ++points[std::string(schema::name_of(hook.point))];
  std::string text;
  for (const auto& [point, count] : points)
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", count, point);
  checks.push_back({"hooks", Health::good, text.empty() ? "none" : text, ""});
  for (const config::HookFile& file : config.hook_files)
    checks.push_back({"hook file", Health::good, describe_hook_file(file), ""});
}

void check_trust(const config::Config& config, std::vector<Check>& checks) {
  if (config.policy_files.empty())
    checks.push_back({"trust", Health::good, "no file in this folder needs to be trusted", ""});
  for (const schema::PolicyFile& file : config.policy_files) {
    const std::string_view state =
        file.trusted   ? "trusted"
        : file.changed ? "changed since it was trusted; only its restrictions apply until you run "
                         "agentrt trust"
                       : "until trusted, only its restrictions apply (see agentrt trust --list)";
    checks.push_back({"trust", Health::good, fmt::format("{}: {}", file.path, state), ""});
  }
}

// The names of the servers of which the owner has learned that they need a login. Without an owner,
// none.
std::set<std::string> servers_without_login(Context& context, const std::string& data) {
  std::set<std::string> out;
  const auto token = read_token(data);
  const auto owner = runtime::read_owner(data);
  if (!token || !owner || !*owner) return out;
  const Client client(runtime::socket_path(data), *token);
  const auto reply = ask_mcp_servers(context, client, false, std::nullopt);
  const auto rows = reply ? read_mcp_servers(*reply) : std::unexpected(reply.error());
  if (!rows) return out;
  for (const McpServerRow& row : *rows)
    if (row.state == "needs_login") out.insert(row.name);
  return out;
}

Check check_server(const std::string& name, const config::McpServerConfig& server,
                   const config::Environment& environment, const std::string& data,
                   const std::set<std::string>& without_login) {
  if (const auto why = runtime::unready(server, environment))
    return {"server " + name, Health::bad, *why, "set it, or set enabled = false; see docs/mcp.md"};
  if (!server.url) {
    const std::string& program = server.command.front();
    if (!program.contains('/') && !is_installed(program, environment("PATH").value_or("")))
      return {"server " + name, Health::bad, program + " is not in any folder of PATH",
              "install it, or correct its command; see docs/mcp.md"};
    return {"server " + name, Health::good, program, ""};
  }
  const std::optional<bool> valid = runtime::logged_in(data, *server.url);
  if (without_login.contains(name) || valid == false)
    return {"server " + name, Health::bad,
            *server.url + (valid == false ? ", its login has ended" : ", it needs a login"),
            fmt::format("run agentrt mcp login {}", name)};
  return {"server " + name, Health::good, *server.url + (valid ? ", logged in" : ""), ""};
}

// Checks only the configuration of MCP servers and the stored logins; whether they start is
// determined by a turn, and by agentrt mcp list --check.
void check_servers(Context& context, const config::Config& config, const std::string& data,
                   std::vector<Check>& checks) {
  std::map<std::string, config::McpServerConfig> servers = config.mcp_servers;
  config::UnusableServers untrusted, of_file;
  (void)config::name_passed_over(config.sources, untrusted);
  config::add_workspace_servers(config.sources, servers, of_file);
  const bool trusted = std::ranges::any_of(config.policy_files, [](const auto& file) {
    return file.trusted && file.path.ends_with(fmt::format("/{}", config::kServersFile));
  });
  if (!trusted) untrusted.merge(of_file);
  for (const auto& [name, server] : untrusted)
    checks.push_back({"server " + name, Health::good, "not started: " + server.why, ""});
  if (trusted)
    for (const auto& [name, server] : of_file)
      checks.push_back({"server " + name, Health::bad, server.why,
                        fmt::format("correct it in {}", config::kServersFile)});
  const std::set<std::string> without_login = servers_without_login(context, data);
  for (const auto& [name, server] : servers)
    if (server.enabled)
      checks.push_back(check_server(name, server, context.environment, data, without_login));
}

void check_config(Context& context, const config::Config& config, const std::string& data,
                  std::vector<Check>& checks) {
  for (const config::ConfigFile& file : config.files)
    checks.push_back({fmt::format("{} configuration", file.layer), Health::good,
                      file.found ? file.path : file.path + " (not present)", ""});
  check_hooks(config, checks);
  check_trust(config, checks);
  if (config.models.empty())
    checks.push_back({"models", Health::bad, "none configured",
                      "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or add [models.NAME] to the "
                      "configuration; see docs/models.md"});
  for (const auto& [name, model] : config.models)
    checks.push_back(check_model(name, model, context.environment));
  check_servers(context, config, data, checks);
}

// The configuration with what the trusted files of its folder add. A store that cannot be read has
// a row of its own.
Result<config::Config> with_stored_trust(config::Config config, const std::string& data,
                                         const config::Environment& environment) {
  if (config.policy_files.empty()) return config;
  const std::string workspace = config::real_workspace(config.sources.workspace);
  const auto trusted = runtime::stored_trust(data, workspace);
  if (!trusted || trusted->empty()) return config;
  config::ConfigSources sources = config.sources;
  sources.trusted = *trusted;
  return config::load_config(sources, environment);
}

// One row per layer, found by running a no-op command in the sandbox of this folder's tools.
void check_layers(const Context& context, const config::Config& config, const std::string& data,
                  std::vector<Check>& checks) {
  config::SandboxChoice choice;
  choice.workspace = context.cwd;
  const auto profile = config::sandbox_profile_of(config, choice, data, context.environment);
  if (!profile) {
    checks.push_back({"sandbox", Health::bad, profile.error().message,
                      "run agentrt in the folder in which commands should work"});
    return;
  }
  const runtime::SandboxCheckup found = runtime::check_sandbox(*profile);
  for (const runtime::SandboxFinding& layer : found.layers) {
    const std::string name = "sandbox " + layer.layer;
    if (layer.enforced)
      checks.push_back({name, Health::good, layer.finding, ""});
    else if (layer.required)
      checks.push_back({name, Health::bad, "missing but required: " + layer.finding, layer.remedy});
    else
      checks.push_back({name, Health::good,
                        fmt::format("missing ({}): {}; to enable it, {}", layer.finding,
                                    layer.without, layer.remedy),
                        ""});
  }
  const std::string mode(schema::name_of(profile->mode));
  if (found.runs)
    checks.push_back({"sandbox verdict", Health::good, "commands can run, profile " + mode, ""});
  else
    checks.push_back({"sandbox verdict", Health::bad,
                      fmt::format("commands cannot run, profile {}: {}", mode, found.refusal),
                      "see docs/sandbox.md for what each layer needs"});
}

Check check_certificate(const config::ServerConfig& server) {
  constexpr std::int64_t kSoonMs = 14LL * 24 * 3'600 * 1'000;
  const Timestamp now = now_of_clock();
  const auto context = TlsContext::server(*server.tls_cert, server.tls_key.value_or(""), now);
  if (!context)
    return {"certificate", Health::bad, context.error().message,
            "correct tls_cert and tls_key in [server]"};
  const std::string text =
      fmt::format("{}, expires {}", *server.tls_cert, format(context->expires()).substr(0, 10));
  if (context->expires() - now < kSoonMs)
    return {"certificate", Health::bad, text, "renew it, then send SIGHUP to agentrt serve"};
  return {"certificate", Health::good, text, ""};
}

Check describe_terminal(const Screen& screen) {
  const std::string text = screen.out_terminal
                               ? fmt::format("{} columns, colour {}", screen.width,
                                             screen.out_colour == Colour::on ? "on" : "off")
                               : std::string("none; output is plain");
  return {"terminal", Health::good, text, ""};
}

}  // namespace

int examine(Context& context) {
  const auto data = data_folder_of(context);
  if (!data) return context.output.problem(data.error());
  std::vector<Check> checks = {check_folder(*data), check_owner(*data),       check_store(*data),
                               check_disk(*data),   check_file_system(*data), check_sqlite()};
  auto config = config_of(context, context.cwd);
  if (config) config = with_stored_trust(*std::move(config), *data, context.environment);
  if (config)
    check_config(context, *config, *data, checks);
  else
    checks.push_back({"configuration", Health::bad, config.error().message, "correct the file"});
  checks.push_back(check_clock(*data));
  checks.push_back(check_open_files());
  if (config && config->server.tls_cert) checks.push_back(check_certificate(config->server));
  if (config) check_layers(context, *config, *data, checks);
  const Screen& screen = context.output.screen();
  checks.push_back(describe_terminal(screen));
  context.output.out(
      context.form() == Form::json
          ? checks_json(checks)
          : checks_text(checks, {screen.out_terminal ? screen.width : 0, screen.out_colour}));
  return all_good(checks) ? kExitDone : kExitFailed;
}

}  // namespace agentrt::cli
