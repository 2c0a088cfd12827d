#include "config/client_environment.h"

#include <algorithm>
#include <filesystem>

#include "config/config_file.h"
#include "config/mcp_servers.h"
#include "policy/sandbox_profile.h"

namespace agentrt::config {
namespace {

using Variables = std::vector<ports::EnvironmentVariable>;

constexpr std::string_view kSettings[] = {"OPENAI_BASE_URL", "OPENAI_MODEL", "ANTHROPIC_BASE_URL",
                                          "ANTHROPIC_MODEL", "AGENTRT_DEBUG_PAYLOADS"};
constexpr std::string_view kCredentials[] = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"};

void add(Variables& out, std::string_view name, const Environment& environment) {
  if (std::ranges::find(out, name, &ports::EnvironmentVariable::name) != out.end()) return;
  if (auto value = environment(name)) out.push_back({std::string(name), *std::move(value)});
}

}  // namespace

ports::ClientEnvironment client_environment(const Config& config, const Environment& environment) {
  ports::ClientEnvironment out;
  for (const std::string_view name : policy::environment_kept())
    add(out.variables, name, environment);
  for (const std::string_view name : kSettings) add(out.settings, name, environment);
  for (const std::string_view name : kCredentials) add(out.credentials, name, environment);
  for (const auto& [_, model] : config.models)
    if (model.api_key_env) add(out.credentials, *model.api_key_env, environment);
  for (const std::string& name : secret_names_of(config.mcp_servers))
    add(out.credentials, name, environment);
  for (const std::string& name : config.redact) add(out.credentials, name, environment);
  if (config.sources.named)
    out.config = std::filesystem::absolute(*config.sources.named).lexically_normal().string();
  if (!config.sources.workspace.empty()) out.workspace = real_workspace(config.sources.workspace);
  return out;
}

Result<bool> names_only_models(const std::string& path) {
  TRY_ASSIGN(const auto text, read_config_file(path));
  if (!text) return wrong_at(path, 0, "does not exist", "");
  TRY_ASSIGN(const ConfigLayer layer, read_config_text(*text, path));
  const bool other = layer.mode || layer.allow || layer.ask || layer.deny || layer.sandbox ||
                     layer.network || layer.report_writes || layer.roots || layer.write ||
                     layer.shell_env || layer.turn_steps || layer.queue_turns_max ||
                     layer.tasks_max || layer.task_edges_max || layer.task_depth_max ||
                     layer.model_retries_max || layer.jobs_running || layer.job_concurrency ||
                     layer.web_fetch_ms || layer.web_fetch_bytes || layer.web_fetch_redirects ||
                     layer.subagent_depth || layer.subagents_running || layer.keep_days ||
                     layer.output_bytes_max || layer.upload_bytes_max || layer.redact ||
                     layer.resume || layer.notify;
  return !other && layer.hooks.empty() && layer.mcp_servers.empty() && layer.beyond.empty();
}

}  // namespace agentrt::config
