#include "config/config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "config/claude_settings.h"
#include "config/config_file.h"
#include "config/effects.h"
#include "config/mcp_servers.h"
#include "config/models.h"
#include "policy/rules.h"
#include "schema/codec.h"

namespace agentrt::config {
namespace {

using schema::PermissionMode;
using schema::RuleEffect;
using schema::RuleOrigin;
using schema::SandboxMode;

constexpr std::string_view kScriptPrefix = "script:";
constexpr std::size_t kAskedBytesMax = 1'024;  // of a file's requests, as shown in a message

void join(std::vector<std::string>& into,
          const std::optional<Given<std::vector<std::string>>>& more) {
  if (!more) return;
  for (const std::string& name : more->value)
    if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
}

// A duplicate keeps the origin of the earlier layer. Beyond the limit, which is checked at the end,
// duplicates are not searched, because that would take quadratic time on a hostile file.
void join_rule(Config& config, const schema::PolicyRule& added) {
  std::vector<schema::PolicyRule>& rules = config.permissions.rules;
  const bool known = rules.size() <= schema::kPolicyRulesMax &&
                     std::ranges::any_of(rules, [&](const schema::PolicyRule& rule) {
                       return rule.effect == added.effect && rule.rule == added.rule;
                     });
  if (!known) rules.push_back(added);
}
void join_rules(Config& config, RuleEffect effect,
                const std::optional<Given<std::vector<std::string>>>& more, RuleOrigin origin) {
  if (!more) return;
  for (const std::string& text : more->value) join_rule(config, {effect, text, origin});
}

std::unexpected<Error> unsupported(const std::string& path, std::size_t line,
                                   const std::string& key) {
  return wrong_at(path, line, key, "is not supported by this version; remove it.");
}

// The settings of the host policy, against which the user's file is checked.
struct Ceiling {
  std::string path;
  ConfigLayer layer;
};

std::unexpected<Error> loosened(const ConfigLayer& layer, std::size_t line, const std::string& key,
                                const Ceiling& ceiling) {
  return wrong_at(
      layer.path, line, key,
      fmt::format("allows more than {} permits; make it stricter or remove it.", ceiling.path));
}

template <class T, class Stricter>
Result<void> set(T& into, const std::optional<Given<T>>& given,
                 const std::optional<Given<T>>& managed, const ConfigLayer& layer,
                 const std::string& key, const Ceiling* ceiling, Stricter stricter) {
  if (!given) return {};
  if (ceiling != nullptr && managed && !stricter(given->value, managed->value))
    return loosened(layer, given->line, key, *ceiling);
  into = given->value;
  return {};
}

constexpr auto kFewer = [](std::uint64_t a, std::uint64_t b) { return a <= b; };
constexpr auto kSame = [](const auto& a, const auto& b) { return a == b; };
constexpr auto kModeStricter = [](PermissionMode a, PermissionMode b) {
  return policy::at_most_as_lax(a, b);
};
constexpr auto kSandboxStricter = [](SandboxMode a, SandboxMode b) {
  return policy::at_most_as_lax(a, b);
};
constexpr auto kImplies = [](bool a, bool b) { return !a || b; };
constexpr auto kTellsMore = [](bool a, bool b) { return a || !b; };
constexpr auto kResumeStricter = [](Resume a, Resume b) { return a == Resume::ask || a == b; };

Result<void> check_supported(const ConfigLayer& layer) {
  for (const Beyond& beyond : layer.beyond) return unsupported(layer.path, beyond.line, beyond.key);
  for (const auto& [name, model] : layer.models)
    if (!known_provider(model.value.provider))
      return wrong_at(layer.path, model.line, "models." + name + ".provider",
                      fmt::format("\"{}\" is not a provider; use \"openai_chat\", "
                                  "\"openai_responses\", \"anthropic\" or \"script\".",
                                  model.value.provider));
  return {};
}

Result<void> apply_routing(Config& config, const ConfigLayer& layer, const Ceiling* ceiling) {
  static const ConfigLayer kNothing;
  const ConfigLayer& managed = ceiling != nullptr ? ceiling->layer : kNothing;
  for (const auto& [name, model] : layer.models) {
    if (managed.models.contains(name))
      return loosened(layer, model.line, "models." + name, *ceiling);
    config.models[name] = model.value;
  }
  std::string default_name;
  TRY(set(default_name, layer.routing_default, managed.routing_default, layer, "routing.default",
          ceiling, kSame));
  if (layer.routing_default) config.routing.default_name = default_name;
  TRY(set(config.routing.fallback, layer.routing_fallback, managed.routing_fallback, layer,
          "routing.fallback", ceiling, kSame));
  std::vector<std::string> candidates;
  TRY(set(candidates, layer.routing_candidates, managed.routing_candidates, layer,
          "routing.candidates", ceiling, kSame));
  if (layer.routing_candidates) config.routing.candidates = candidates;
  return {};
}

// Settings that a managed file does not bound.
void set_unbounded(Config& config, const ConfigLayer& layer) {
  ContextConfig& context = config.context;
  if (layer.compact) context.compact = layer.compact->value;
  if (layer.compact_at) context.compact_at = layer.compact_at->value;
  if (layer.compact_model) context.compact_model = layer.compact_model->value;
  if (layer.compact_timeout_ms) context.compact_timeout_ms = layer.compact_timeout_ms->value;
  if (layer.listen) config.server.listen = layer.listen->value;
  if (layer.tls_cert) config.server.tls_cert = layer.tls_cert->value;
  if (layer.tls_key) config.server.tls_key = layer.tls_key->value;
  join(config.server.host_names, layer.host_names);
  join(config.server.origins, layer.origins);
  for (const ChannelLimit& limit : kChannelLimits)
    if (const auto given = layer.channels.find(limit.key); given != layer.channels.end())
      config.channels.*limit.member = given->second;
  for (const auto& [name, remote] : layer.remotes) config.remotes[name] = remote;
  if (layer.notify) config.notify = layer.notify->value;
  if (layer.client_metadata_url) config.mcp.client_metadata_url = layer.client_metadata_url->value;
}

// Applies a trusted file completely, within the ceiling if there is one.
Result<void> apply_trusted(Config& config, const ConfigLayer& layer, RuleOrigin origin,
                           const Ceiling* ceiling) {
  static const ConfigLayer kNothing;
  const ConfigLayer& managed = ceiling != nullptr ? ceiling->layer : kNothing;
  TRY(check_supported(layer));
  TRY(apply_routing(config, layer, ceiling));
  for (const auto& [name, server] : layer.mcp_servers) {
    if (managed.mcp_servers.contains(name))
      return loosened(layer, server.line, "mcp_servers." + name, *ceiling);
    config.mcp_servers[name] = server.value;
  }
  TRY(set(config.permissions.mode, layer.mode, managed.mode, layer, "permissions.mode", ceiling,
          kModeStricter));
  if (layer.mode) config.permissions.mode_origin = origin;
  join_rules(config, RuleEffect::allow, layer.allow, origin);
  join_rules(config, RuleEffect::ask, layer.ask, origin);
  join_rules(config, RuleEffect::deny, layer.deny, origin);
  for (schema::HookSpec hook : layer.hooks) {
    hook.origin = origin;
    config.hooks.push_back(std::move(hook));
  }
  TRY(set(config.sandbox.mode, layer.sandbox, managed.sandbox, layer, "sandbox.mode", ceiling,
          kSandboxStricter));
  TRY(set(config.sandbox.network, layer.network, managed.network, layer, "sandbox.network", ceiling,
          kImplies));
  TRY(set(config.sandbox.report_writes, layer.report_writes, managed.report_writes, layer,
          "sandbox.report_writes", ceiling, kTellsMore));
  join(config.sandbox.roots, layer.roots);
  join(config.sandbox.write, layer.write);
  if (layer.shell_env)  // the host's file comes first, and its values stay
    config.shell_env.insert(layer.shell_env->value.begin(), layer.shell_env->value.end());
  LimitConfig& limits = config.limits;
  TRY(set(limits.turn_steps, layer.turn_steps, managed.turn_steps, layer, "limits.turn_steps",
          ceiling, kFewer));
  TRY(set(limits.queue_turns_max, layer.queue_turns_max, managed.queue_turns_max, layer,
          "limits.queue_turns_max", ceiling, kFewer));
  TRY(set(limits.tasks_max, layer.tasks_max, managed.tasks_max, layer, "limits.tasks_max", ceiling,
          kFewer));
  TRY(set(limits.task_edges_max, layer.task_edges_max, managed.task_edges_max, layer,
          "limits.task_edges_max", ceiling, kFewer));
  TRY(set(limits.task_depth_max, layer.task_depth_max, managed.task_depth_max, layer,
          "limits.task_depth_max", ceiling, kFewer));
  TRY(set(limits.model_retries_max, layer.model_retries_max, managed.model_retries_max, layer,
          "limits.model_retries_max", ceiling, kFewer));
  TRY(set(limits.web_fetch_ms, layer.web_fetch_ms, managed.web_fetch_ms, layer,
          "limits.web_fetch_ms", ceiling, kFewer));
  TRY(set(limits.web_fetch_bytes, layer.web_fetch_bytes, managed.web_fetch_bytes, layer,
          "limits.web_fetch_bytes", ceiling, kFewer));
  TRY(set(limits.web_fetch_redirects, layer.web_fetch_redirects, managed.web_fetch_redirects, layer,
          "limits.web_fetch_redirects", ceiling, kFewer));
  TRY(set(limits.jobs_running, layer.jobs_running, managed.jobs_running, layer,
          "limits.jobs_running", ceiling, kFewer));
  TRY(set(limits.job_concurrency, layer.job_concurrency, managed.job_concurrency, layer,
          "limits.job_concurrency", ceiling, kFewer));
  TRY(set(limits.subagent_depth, layer.subagent_depth, managed.subagent_depth, layer,
          "limits.subagent_depth", ceiling, kFewer));
  TRY(set(limits.subagents_running, layer.subagents_running, managed.subagents_running, layer,
          "limits.subagents_running", ceiling, kFewer));
  OutputConfig& outputs = config.outputs;
  TRY(set(outputs.keep_days, layer.keep_days, managed.keep_days, layer, "outputs.keep_days",
          ceiling, kFewer));
  TRY(set(outputs.bytes_max, layer.output_bytes_max, managed.output_bytes_max, layer,
          "outputs.bytes_max", ceiling, kFewer));
  TRY(set(outputs.upload_bytes_max, layer.upload_bytes_max, managed.upload_bytes_max, layer,
          "outputs.upload_bytes_max", ceiling, kFewer));
  set_unbounded(config, layer);
  join(config.redact, layer.redact);
  return set(config.resume, layer.resume, managed.resume, layer, "runtime.resume", ceiling,
             kResumeStricter);
}

// Applies `given` if it is stricter. False: it is not stricter and was ignored.
template <class T, class Stricter>
bool tighten(T& into, const std::optional<Given<T>>& given, Stricter stricter) {
  if (!given) return true;
  if (!stricter(given->value, into)) return false;
  into = given->value;
  return true;
}

// Removes settings of a workspace file that are allowed only in the user's file.
void drop_what_is_not_its_own(Config& config, ConfigLayer& layer) {
  std::vector<std::string> keys;
  const auto drop = [&keys](auto& given, const char* key) {
    if (given) keys.emplace_back(key);
    given.reset();
  };
  drop(layer.keep_days, "outputs.keep_days");
  drop(layer.output_bytes_max, "outputs.bytes_max");
  drop(layer.upload_bytes_max, "outputs.upload_bytes_max");
  drop(layer.redact, "redact.names");
  drop(layer.roots, "sandbox.roots");
  drop(layer.notify, "terminal.notify");
  drop(layer.write, "sandbox.write");
  drop(layer.shell_env, "shell.env");
  drop(layer.listen, "server.listen");
  drop(layer.tls_cert, "server.tls_cert");
  drop(layer.tls_key, "server.tls_key");
  drop(layer.host_names, "server.host_names");
  drop(layer.origins, "server.origins");
  drop(layer.client_metadata_url, "mcp.client_metadata_url");
  for (const auto& [key, value] : layer.channels) keys.push_back("channels." + key);
  for (const auto& [name, remote] : layer.remotes) keys.push_back("remotes." + name);
  layer.channels.clear();
  layer.remotes.clear();
  if (!keys.empty())
    config.warnings.push_back(
        fmt::format("{}: ignored: {} (only the user configuration file may set this)", layer.path,
                    fmt::join(keys, ", ")));
}

// Applies only the stricter settings of an untrusted workspace file. Returns the names of the
// others.
std::vector<std::string> apply_untrusted(Config& config, const ConfigLayer& layer) {
  std::vector<std::string> asked;
  for (const auto& [name, server] : layer.mcp_servers) asked.push_back("mcp_servers." + name);
  if (!layer.hooks.empty()) asked.emplace_back("hooks");
  for (const auto& [name, model] : layer.models) asked.push_back("models." + name);
  if (layer.routing_default) asked.emplace_back("routing.default");
  if (layer.routing_fallback) asked.emplace_back("routing.fallback");
  if (layer.routing_candidates) asked.emplace_back("routing.candidates");
  if (layer.allow) asked.emplace_back("permissions.allow");
  join_rules(config, RuleEffect::ask, layer.ask, RuleOrigin::workspace);
  join_rules(config, RuleEffect::deny, layer.deny, RuleOrigin::workspace);
  if (layer.compact) asked.emplace_back("context.compact");
  if (layer.compact_at) asked.emplace_back("context.compact_at");
  if (layer.compact_model) asked.emplace_back("context.compact_model");
  if (layer.compact_timeout_ms) asked.emplace_back("context.compact_timeout_ms");
  const auto judge = [&asked](bool taken, const char* key) {
    if (!taken) asked.emplace_back(key);
  };
  LimitConfig& limits = config.limits;
  const bool mode_taken = tighten(config.permissions.mode, layer.mode, kModeStricter);
  if (layer.mode && mode_taken) config.permissions.mode_origin = RuleOrigin::workspace;
  judge(mode_taken, "permissions.mode");
  judge(tighten(config.sandbox.mode, layer.sandbox, kSandboxStricter), "sandbox.mode");
  judge(tighten(config.sandbox.network, layer.network, kImplies), "sandbox.network");
  judge(tighten(config.sandbox.report_writes, layer.report_writes, kTellsMore),
        "sandbox.report_writes");
  judge(tighten(limits.turn_steps, layer.turn_steps, kFewer), "limits.turn_steps");
  judge(tighten(limits.queue_turns_max, layer.queue_turns_max, kFewer), "limits.queue_turns_max");
  judge(tighten(limits.tasks_max, layer.tasks_max, kFewer), "limits.tasks_max");
  judge(tighten(limits.task_edges_max, layer.task_edges_max, kFewer), "limits.task_edges_max");
  judge(tighten(limits.task_depth_max, layer.task_depth_max, kFewer), "limits.task_depth_max");
  judge(tighten(limits.model_retries_max, layer.model_retries_max, kFewer),
        "limits.model_retries_max");
  judge(tighten(limits.web_fetch_ms, layer.web_fetch_ms, kFewer), "limits.web_fetch_ms");
  judge(tighten(limits.web_fetch_bytes, layer.web_fetch_bytes, kFewer), "limits.web_fetch_bytes");
  judge(tighten(limits.web_fetch_redirects, layer.web_fetch_redirects, kFewer),
        "limits.web_fetch_redirects");
  judge(tighten(limits.jobs_running, layer.jobs_running, kFewer), "limits.jobs_running");
  judge(tighten(limits.job_concurrency, layer.job_concurrency, kFewer), "limits.job_concurrency");
  judge(tighten(limits.subagent_depth, layer.subagent_depth, kFewer), "limits.subagent_depth");
  judge(tighten(limits.subagents_running, layer.subagents_running, kFewer),
        "limits.subagents_running");
  judge(tighten(config.resume, layer.resume, kResumeStricter), "runtime.resume");
  return asked;
}

// Records that the file needs trust, and what it does; without trust, adds a message about the
// ignored settings.
void note_asked(Config& config, const WorkspaceFile& file, const std::string& asked,
                Effects effects) {
  const bool trusted = file.trust == Trust::given;
  const bool changed = file.trust == Trust::changed;
  config.policy_files.push_back(
      {file.path, file.digest, trusted, changed, std::move(effects), file.trusted_effects});
  if (trusted) return;
  const std::string_view shown = schema::utf8_prefix(asked, kAskedBytesMax);
  config.ignored.push_back(fmt::format(
      "{}: ignored: {}{} ({})", file.path, shown, shown.size() < asked.size() ? "…" : "",
      changed ? "the file has changed since it was trusted" : "the file is not trusted"));
}

Result<std::optional<ConfigLayer>> apply_workspace(Config& config, const Ceiling* ceiling) {
  const ConfigSources& sources = config.sources;
  const std::string path = real_workspace(sources.workspace) + "/" + std::string(kWorkspaceFile);
  TRY_ASSIGN(const auto file,
             read_workspace_file(sources.workspace, kWorkspaceFile, sources.trusted));
  config.files.push_back({path, "workspace", file.has_value()});
  if (!file) return std::nullopt;
  TRY_ASSIGN(ConfigLayer layer, read_config_text(file->text, file->path));
  for (const Beyond& beyond : layer.beyond) return unsupported(layer.path, beyond.line, beyond.key);
  drop_what_is_not_its_own(config, layer);
  Config strict = config;
  const std::vector<std::string> asked = apply_untrusted(strict, layer);
  if (file->trust == Trust::given)
    TRY(apply_trusted(config, layer, RuleOrigin::workspace, ceiling));
  else
    config = std::move(strict);
  if (!asked.empty())
    note_asked(config, *file, fmt::format("{}", fmt::join(asked, ", ")), effects_of(layer, asked));
  if (file->trust != Trust::given) return std::nullopt;
  return layer;
}

// Permissions granted to Claude Code do not apply here; its restrictions do.
void tighten(Config& config, const std::vector<schema::PolicyRule>& rules) {
  for (const schema::PolicyRule& rule : rules)
    if (rule.effect != RuleEffect::allow) join_rule(config, rule);
}

Result<void> apply_user_claude(Config& config) {
  const auto& path = config.sources.claude;
  if (!path || config.sources.named) return {};
  TRY_ASSIGN(const auto text, read_config_file(*path));
  if (!text) return {};
  TRY_ASSIGN(ClaudeSettings read,
             read_claude_settings(*text, *path, RuleOrigin::user, policy::rule_from_claude));
  config.hook_files.push_back({*path, read.hooks.size(), std::move(read.unmapped), true});
  tighten(config, read.rules);
  config.hooks.insert(config.hooks.end(), read.hooks.begin(), read.hooks.end());
  return {};
}

// Ask and deny rules are restrictions, so they apply at once; hooks need trust.
Result<void> apply_workspace_claude(Config& config, std::string_view name) {
  TRY_ASSIGN(const auto file,
             read_workspace_file(config.sources.workspace, name, config.sources.trusted));
  if (!file) return {};
  TRY_ASSIGN(ClaudeSettings read,
             read_claude_settings(file->text, file->path, RuleOrigin::workspace,
                                  policy::rule_from_claude));
  const bool trusted = file->trust == Trust::given;
  if (!read.hooks.empty()) note_asked(config, *file, "hooks", effects_of(read));
  config.hook_files.push_back({file->path, read.hooks.size(), std::move(read.unmapped), trusted});
  tighten(config, read.rules);
  if (trusted) config.hooks.insert(config.hooks.end(), read.hooks.begin(), read.hooks.end());
  return {};
}

// Servers of a workspace run something, so the file needs trust like the others. What is in it is
// read when a turn needs it (config/mcp_servers.h): a broken one costs its servers alone.
Result<void> apply_servers(Config& config) {
  TRY_ASSIGN(const auto file,
             read_workspace_file(config.sources.workspace, kServersFile, config.sources.trusted));
  if (!file) return {};
  note_asked(config, *file, "its MCP servers", effects_of(read_mcp_json(file->text)));
  return {};
}

// Checks that every name in [routing] and in context.compact_model is a model. The error names the
// file and line of the name.
Result<void> check_names(const Config& config, const std::vector<const ConfigLayer*>& layers) {
  const auto check_name = [&](const std::string& name, const std::string& key,
                              auto member) -> Result<void> {
    if (config.models.contains(name)) return {};
    for (const ConfigLayer* layer : layers)
      if (const auto& given = layer->*member)
        return wrong_at(
            layer->path, given->line, key,
            fmt::format("names the model \"{}\", but there is no [models.{}].", name, name));
    return {};
  };
  if (config.routing.default_name)
    TRY(check_name(*config.routing.default_name, "routing.default", &ConfigLayer::routing_default));
  for (const std::string& name : config.routing.fallback)
    TRY(check_name(name, "routing.fallback", &ConfigLayer::routing_fallback));
  for (const std::string& name : config.routing.candidates.value_or(std::vector<std::string>{}))
    TRY(check_name(name, "routing.candidates", &ConfigLayer::routing_candidates));
  if (config.context.compact_model)
    TRY(check_name(*config.context.compact_model, "context.compact_model",
                   &ConfigLayer::compact_model));
  return {};
}

Result<std::optional<ConfigLayer>> load_layer(Config& config, const std::string& path,
                                              const std::string& layer) {
  if (path.empty()) return std::nullopt;
  TRY_ASSIGN(const auto text, read_config_file(path));
  config.files.push_back({path, layer, text.has_value()});
  if (!text) return std::nullopt;
  TRY_ASSIGN(ConfigLayer read, read_config_text(*text, path));
  return read;
}

// A policy is stored in facts, so its size is limited.
Result<void> check_sizes(const Config& config) {
  const auto& rules = config.permissions.rules;
  std::size_t bytes = 0;
  for (const schema::PolicyRule& rule : rules) bytes += rule_bytes(rule);
  for (const schema::HookSpec& hook : config.hooks)
    bytes += hook.command.size() + hook.matcher.size();
  const auto too_many = [](std::size_t there, std::size_t most, std::string_view what) {
    return fail(
        Code::invalid_params,
        fmt::format("The configuration files contain {} {} in total; the limit is {}. Remove some.",
                    there, what, most));
  };
  if (rules.size() > schema::kPolicyRulesMax)
    return too_many(rules.size(), schema::kPolicyRulesMax, "rules");
  if (config.hooks.size() > schema::kHooksMax)
    return too_many(config.hooks.size(), schema::kHooksMax, "hooks");
  if (bytes > schema::kPolicyBytesMax)
    return too_many(bytes, schema::kPolicyBytesMax, "bytes of rules and hooks");
  return {};
}

}  // namespace

std::optional<std::string> user_config_path(const Environment& environment) {
  std::filesystem::path folder;
  if (const auto config_home = environment("XDG_CONFIG_HOME")) {
    folder = *config_home;
  } else if (const auto home = environment("HOME")) {
    folder = std::filesystem::path(*home) / ".config";
  } else {
    return std::nullopt;
  }
  return (folder / "agentrt" / "config.toml").string();
}

std::optional<std::string> claude_config_path(const Environment& environment) {
  const auto home = environment("HOME");
  if (!home) return std::nullopt;
  return (std::filesystem::path(*home) / ".claude" / "settings.json").string();
}

Result<Config> load_config(const ConfigSources& sources, const Environment& environment) {
  Config config;
  config.sources = sources;
  TRY_ASSIGN(const auto managed, load_layer(config, sources.managed, "managed"));
  std::optional<Ceiling> ceiling;
  if (managed) {
    TRY(apply_trusted(config, *managed, RuleOrigin::managed, nullptr));
    ceiling = Ceiling{managed->path, *managed};
    if (managed->mode) config.managed_mode = managed->mode->value;
    if (managed->sandbox) config.managed_sandbox = managed->sandbox->value;
    if (managed->network) config.managed_network = managed->network->value;
    if (managed->roots) config.managed_roots = managed->roots->value;
  }
  const Ceiling* const most = ceiling ? &*ceiling : nullptr;
  std::string user_path = sources.named ? *sources.named : sources.user.value_or("");
  if (!user_path.empty())
    user_path = std::filesystem::absolute(user_path).lexically_normal().string();
  TRY_ASSIGN(const auto user, load_layer(config, user_path, "user"));
  if (sources.named && !user)
    return wrong_at(user_path, 0, "does not exist;", "give --config a file that exists.");
  if (user) TRY(apply_trusted(config, *user, RuleOrigin::user, most));
  TRY(apply_user_claude(config));

  std::optional<ConfigLayer> workspace;
  if (!sources.workspace.empty()) {
    TRY_ASSIGN(workspace, apply_workspace(config, most));
    TRY(apply_servers(config));
    for (const std::string_view name : kClaudeFiles) TRY(apply_workspace_claude(config, name));
  }
  if (config.models.empty() && environment) TRY(add_environment_models(config, environment));
  std::vector<const ConfigLayer*> layers;
  for (const auto* layer : {&std::as_const(workspace), &user, &managed})
    if (*layer) layers.push_back(&**layer);
  TRY(check_names(config, layers));
  TRY(check_sizes(config));
  // An invalid rule is never ignored; it is an error.
  TRY(policy::compile(config.permissions.rules));
  return config;
}

std::string resolve_model_name(std::string_view name, const std::string& cwd) {
  if (!name.starts_with(kScriptPrefix)) return std::string(name);
  const std::filesystem::path file(name.substr(kScriptPrefix.size()));
  if (file.empty()) return std::string(name);
  const std::filesystem::path absolute = file.is_absolute() ? file : cwd / file;
  return std::string(kScriptPrefix) + absolute.lexically_normal().string();
}

std::optional<ModelConfig> script_model(std::string_view resolved_name) {
  if (!resolved_name.starts_with(kScriptPrefix)) return std::nullopt;
  const std::filesystem::path file(resolved_name.substr(kScriptPrefix.size()));
  if (!file.is_absolute()) return std::nullopt;
  ModelConfig model;
  model.name = resolved_name;
  model.provider = "script";
  model.model = file.filename().string();
  model.capabilities = {"streaming"};
  model.script = file.string();
  return model;
}

}  // namespace agentrt::config
