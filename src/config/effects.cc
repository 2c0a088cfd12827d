#include "config/effects.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schema/codec.h"
#include "schema/json.h"

namespace agentrt::config {
namespace {

// Cuts each line and the list.
Effects bounded(Effects lines) {
  for (std::string& line : lines) {
    const std::string_view kept = schema::utf8_prefix(line, schema::kEffectBytesMax);
    if (kept.size() < line.size()) line = std::string(kept) + "…";
  }
  if (lines.size() <= schema::kEffectsMax) return lines;
  const std::size_t more = lines.size() - (schema::kEffectsMax - 1);
  lines.resize(schema::kEffectsMax - 1);
  lines.push_back(fmt::format("… and {} more; read the file", more));
  return lines;
}

void add_hook(Effects& out, const schema::HookSpec& hook) {
  const std::string about = hook.matcher.empty() ? "" : fmt::format(" for {}", hook.matcher);
  out.push_back(fmt::format("runs at {}{}: {}", schema::name_of(hook.point), about, hook.command));
}

template <class Values>
std::string names_of(const Values& values) {
  std::string names;
  for (const auto& [name, _] : values) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void add_server(Effects& out, const std::string& name, const McpServerConfig& server) {
  if (!server.enabled) return;
  if (server.url) {
    std::string line = fmt::format("connects to the MCP server {}: {}", name, *server.url);
    if (server.bearer_token_env)
      line += fmt::format(", with the token in {}", *server.bearer_token_env);
    if (server.oauth && server.oauth->client_secret_env)
      line += fmt::format(", with the client secret in {}", *server.oauth->client_secret_env);
    if (server.oauth && server.oauth->private_key_file)
      line += fmt::format(", with the private key {}", *server.oauth->private_key_file);
    if (!server.headers.empty()) line += ", with the headers " + names_of(server.headers);
    return out.push_back(std::move(line));
  }
  std::string line =
      fmt::format("starts the MCP server {}: {}", name, fmt::join(server.command, " "));
  if (!server.env.empty()) line += ", with " + names_of(server.env) + " set";
  if (server.sandbox) line += fmt::format(", sandbox {}", schema::name_of(*server.sandbox));
  if (server.network.value_or(false)) line += ", with network";
  out.push_back(std::move(line));
}

void add_model(Effects& out, const std::string& name, const ModelConfig& model) {
  if (model.provider == "script")
    return out.push_back(fmt::format("adds the model {}: plays {}", name, model.script));
  std::string line =
      fmt::format("adds the model {}: sends conversations to {} ({} {})", name,
                  model.base_url.value_or("its provider"), model.provider, model.model);
  if (model.api_key_env) line += fmt::format(", with the key in {}", *model.api_key_env);
  out.push_back(std::move(line));
}

// The setting `key` in words; empty: it is described elsewhere.
std::string setting(const ConfigLayer& layer, const std::string& key) {
  const auto number = [&](const std::optional<Given<std::uint64_t>>& given) {
    return given ? fmt::format("sets {} to {}", key, given->value) : std::string();
  };
  if (key == "routing.default" && layer.routing_default)
    return fmt::format("uses the model {} by default", layer.routing_default->value);
  if (key == "routing.fallback" && layer.routing_fallback)
    return fmt::format("falls back to the models {}",
                       fmt::join(layer.routing_fallback->value, ", "));
  if (key == "routing.candidates" && layer.routing_candidates)
    return fmt::format("chooses among the models {}",
                       fmt::join(layer.routing_candidates->value, ", "));
  if (key == "permissions.mode" && layer.mode)
    return fmt::format("sets the permission mode {}", schema::name_of(layer.mode->value));
  if (key == "sandbox.mode" && layer.sandbox)
    return fmt::format("sets the sandbox profile {}", schema::name_of(layer.sandbox->value));
  if (key == "sandbox.network") return "gives commands the network";
  if (key == "sandbox.report_writes") return "stops reporting writes that the sandbox blocks";
  if (key == "limits.turn_steps") return number(layer.turn_steps);
  if (key == "limits.queue_turns_max") return number(layer.queue_turns_max);
  if (key == "limits.tasks_max") return number(layer.tasks_max);
  if (key == "limits.task_edges_max") return number(layer.task_edges_max);
  if (key == "limits.task_depth_max") return number(layer.task_depth_max);
  if (key == "limits.model_retries_max") return number(layer.model_retries_max);
  if (key == "limits.web_fetch_ms") return number(layer.web_fetch_ms);
  if (key == "limits.web_fetch_bytes") return number(layer.web_fetch_bytes);
  if (key == "limits.web_fetch_redirects") return number(layer.web_fetch_redirects);
  if (key == "limits.jobs_running") return number(layer.jobs_running);
  if (key == "limits.job_concurrency") return number(layer.job_concurrency);
  if (key == "limits.subagent_depth") return number(layer.subagent_depth);
  if (key == "limits.subagents_running") return number(layer.subagents_running);
  if (key == "runtime.resume") return "resumes unfinished turns without asking";
  return {};
}

}  // namespace

Effects effects_of(const ConfigLayer& layer, const std::vector<std::string>& asked) {
  Effects out;
  for (const schema::HookSpec& hook : layer.hooks) add_hook(out, hook);
  for (const auto& [name, server] : layer.mcp_servers) add_server(out, name, server.value);
  for (const auto& [name, model] : layer.models) add_model(out, name, model.value);
  if (layer.allow)
    for (const std::string& rule : layer.allow->value) out.push_back("allows " + rule);
  for (const std::string& key : asked)
    if (std::string line = setting(layer, key); !line.empty()) out.push_back(std::move(line));
  return bounded(std::move(out));
}

Effects effects_of(const ClaudeSettings& settings) {
  Effects out;
  for (const schema::HookSpec& hook : settings.hooks) add_hook(out, hook);
  return bounded(std::move(out));
}

Effects effects_of(const McpJson& servers) {
  Effects out;
  for (const auto& [name, server] : servers.servers) add_server(out, name, server);
  for (const auto& [name, why] : servers.wrong)
    out.push_back(fmt::format("cannot use {}: {}", name, why));
  return bounded(std::move(out));
}

}  // namespace agentrt::config
