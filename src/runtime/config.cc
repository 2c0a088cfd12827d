#include "runtime/config.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "runtime/config_file.h"
#include "schema/codec.h"

namespace agentrt::runtime {
namespace {

using schema::PermissionMode;
using schema::SandboxMode;

constexpr std::string_view kScriptPrefix = "script:";

void join(std::vector<std::string>& into,
          const std::optional<Given<std::vector<std::string>>>& more) {
  if (!more) return;
  for (const std::string& rule : more->value)
    if (std::find(into.begin(), into.end(), rule) == into.end()) into.push_back(rule);
}

std::unexpected<Error> unsupported(const std::string& path, std::size_t line,
                                   const std::string& key) {
  return wrong_at(path, line, key, "is not supported by this version; remove it.");
}

// What the host policy set, kept apart so that the user's file can be measured against it.
struct Ceiling {
  std::string path;
  ConfigLayer layer;
};

std::unexpected<Error> loosened(const ConfigLayer& layer, std::size_t line, const std::string& key,
                                const Ceiling& ceiling) {
  return wrong_at(
      layer.path, line, key,
      fmt::format("goes beyond what {} allows; make it stricter or remove it.", ceiling.path));
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
  return at_most_as_lax(a, b);
};
constexpr auto kSandboxStricter = [](SandboxMode a, SandboxMode b) { return at_most_as_lax(a, b); };
constexpr auto kImplies = [](bool a, bool b) { return !a || b; };
constexpr auto kResumeStricter = [](Resume a, Resume b) { return a == Resume::ask || a == b; };

Result<void> check_supported(const ConfigLayer& layer) {
  for (const Beyond& beyond : layer.beyond) return unsupported(layer.path, beyond.line, beyond.key);
  for (const auto& [name, model] : layer.models)
    if (model.value.provider != "script")
      return wrong_at(layer.path, model.line, "models." + name + ".provider",
                      fmt::format("\"{}\" is not supported by this version; the one there is, is "
                                  "\"script\".",
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

// A file that is trusted: everything in it counts, up to the ceiling where there is one.
Result<void> apply_trusted(Config& config, const ConfigLayer& layer, const Ceiling* ceiling) {
  static const ConfigLayer kNothing;
  const ConfigLayer& managed = ceiling != nullptr ? ceiling->layer : kNothing;
  TRY(check_supported(layer));
  TRY(apply_routing(config, layer, ceiling));
  TRY(set(config.permissions.mode, layer.mode, managed.mode, layer, "permissions.mode", ceiling,
          kModeStricter));
  join(config.permissions.allow, layer.allow);
  join(config.permissions.ask, layer.ask);
  join(config.permissions.deny, layer.deny);
  TRY(set(config.sandbox.mode, layer.sandbox, managed.sandbox, layer, "sandbox.mode", ceiling,
          kSandboxStricter));
  TRY(set(config.sandbox.network, layer.network, managed.network, layer, "sandbox.network", ceiling,
          kImplies));
  LimitConfig& limits = config.limits;
  TRY(set(limits.turn_steps, layer.turn_steps, managed.turn_steps, layer, "limits.turn_steps",
          ceiling, kFewer));
  TRY(set(limits.queue_turns_max, layer.queue_turns_max, managed.queue_turns_max, layer,
          "limits.queue_turns_max", ceiling, kFewer));
  TRY(set(limits.model_retries_max, layer.model_retries_max, managed.model_retries_max, layer,
          "limits.model_retries_max", ceiling, kFewer));
  OutputConfig& outputs = config.outputs;
  TRY(set(outputs.keep_days, layer.keep_days, managed.keep_days, layer, "outputs.keep_days",
          ceiling, kFewer));
  TRY(set(outputs.bytes_max, layer.output_bytes_max, managed.output_bytes_max, layer,
          "outputs.bytes_max", ceiling, kFewer));
  TRY(set(outputs.upload_bytes_max, layer.upload_bytes_max, managed.upload_bytes_max, layer,
          "outputs.upload_bytes_max", ceiling, kFewer));
  join(config.redact, layer.redact);
  return set(config.resume, layer.resume, managed.resume, layer, "runtime.resume", ceiling,
             kResumeStricter);
}

// Takes `given` when it tightens; says whether it was taken or changes nothing.
template <class T, class Stricter>
bool tighten(T& into, const std::optional<Given<T>>& given, Stricter stricter) {
  if (!given) return true;
  if (!stricter(given->value, into)) return false;
  into = given->value;
  return true;
}

void warn(Config& config, const ConfigLayer& layer, const std::vector<std::string>& keys,
          std::string_view why) {
  if (keys.empty()) return;
  config.warnings.push_back(
      fmt::format("{}: ignored: {} ({})", layer.path, fmt::join(keys, ", "), why));
}

// A workspace file came with the repository: it may make things stricter and nothing else.
Result<void> apply_workspace(Config& config, const ConfigLayer& layer) {
  std::vector<std::string> features;
  for (const Beyond& beyond : layer.beyond) {
    if (beyond.key == "limits.session_cost")
      return unsupported(layer.path, beyond.line, beyond.key);
    features.push_back(beyond.key);
  }
  warn(config, layer, features, "workspace files cannot add hooks or servers until trusted");
  std::vector<std::string> routing;
  for (const auto& [name, model] : layer.models) routing.push_back("models." + name);
  if (layer.routing_default) routing.emplace_back("routing.default");
  if (layer.routing_fallback) routing.emplace_back("routing.fallback");
  if (layer.routing_candidates) routing.emplace_back("routing.candidates");
  warn(config, layer, routing, "workspace files cannot add models until trusted");
  if (layer.allow)
    warn(config, layer, {"permissions.allow"},
         "workspace files cannot allow anything until trusted");
  std::vector<std::string> whole;  // what concerns the runtime and not one workspace
  if (layer.keep_days) whole.emplace_back("outputs.keep_days");
  if (layer.output_bytes_max) whole.emplace_back("outputs.bytes_max");
  if (layer.upload_bytes_max) whole.emplace_back("outputs.upload_bytes_max");
  if (layer.redact) whole.emplace_back("redact.names");
  warn(config, layer, whole, "this is for the user's file");
  join(config.permissions.ask, layer.ask);
  join(config.permissions.deny, layer.deny);

  std::vector<std::string> laxer;
  const auto judge = [&laxer](bool taken, const char* key) {
    if (!taken) laxer.emplace_back(key);
  };
  LimitConfig& limits = config.limits;
  judge(tighten(config.permissions.mode, layer.mode, kModeStricter), "permissions.mode");
  judge(tighten(config.sandbox.mode, layer.sandbox, kSandboxStricter), "sandbox.mode");
  judge(tighten(config.sandbox.network, layer.network, kImplies), "sandbox.network");
  judge(tighten(limits.turn_steps, layer.turn_steps, kFewer), "limits.turn_steps");
  judge(tighten(limits.queue_turns_max, layer.queue_turns_max, kFewer), "limits.queue_turns_max");
  judge(tighten(limits.model_retries_max, layer.model_retries_max, kFewer),
        "limits.model_retries_max");
  judge(tighten(config.resume, layer.resume, kResumeStricter), "runtime.resume");
  warn(config, layer, laxer, "workspace files cannot loosen anything until trusted");
  return {};
}

// Every name in [routing] is a model's. `said_by` finds the file and line to blame.
Result<void> check_names(const Config& config, const std::vector<const ConfigLayer*>& layers) {
  const auto check_name = [&](const std::string& name, const std::string& key,
                              auto member) -> Result<void> {
    if (config.models.contains(name)) return {};
    for (const ConfigLayer* layer : layers)
      if (const auto& given = layer->*member)
        return wrong_at(layer->path, given->line, key,
                        fmt::format("names \"{}\", and there is no [models.{}].", name, name));
    return {};
  };
  if (config.routing.default_name)
    TRY(check_name(*config.routing.default_name, "routing.default", &ConfigLayer::routing_default));
  for (const std::string& name : config.routing.fallback)
    TRY(check_name(name, "routing.fallback", &ConfigLayer::routing_fallback));
  for (const std::string& name : config.routing.candidates.value_or(std::vector<std::string>{}))
    TRY(check_name(name, "routing.candidates", &ConfigLayer::routing_candidates));
  return {};
}

Result<std::optional<ConfigLayer>> load_layer(Config& config, const std::string& path,
                                              const std::string& layer) {
  if (path.empty()) return std::nullopt;
  TRY_ASSIGN(auto read, read_config_file(path));
  config.files.push_back({path, layer, read.has_value()});
  return read;
}

int act_rank(PermissionMode mode) {
  switch (mode) {
    case PermissionMode::plan:
      return 0;
    case PermissionMode::never:
      return 1;
    case PermissionMode::untrusted:
      return 2;
    case PermissionMode::default_:
      return 2;
    case PermissionMode::on_request:
      return 3;
    case PermissionMode::on_failure:
      return 4;
    case PermissionMode::auto_:
      return 5;
    case PermissionMode::bypass:
      return 6;
  }
  return 6;
}

}  // namespace

bool at_most_as_lax(PermissionMode a, PermissionMode b) {
  // Two questions: may it act without being asked about it, and may it read so.
  const bool reads_a = a != PermissionMode::untrusted;
  const bool reads_b = b != PermissionMode::untrusted;
  return act_rank(a) <= act_rank(b) && (!reads_a || reads_b);
}

bool at_most_as_lax(SandboxMode a, SandboxMode b) {
  return static_cast<int>(a) <= static_cast<int>(b);
}

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

Result<Config> load_config(const ConfigSources& sources) {
  Config config;
  TRY_ASSIGN(const auto managed, load_layer(config, sources.managed, "managed"));
  std::optional<Ceiling> ceiling;
  if (managed) {
    TRY(apply_trusted(config, *managed, nullptr));
    ceiling = Ceiling{managed->path, *managed};
    if (managed->mode) config.managed_mode = managed->mode->value;
    if (managed->sandbox) config.managed_sandbox = managed->sandbox->value;
  }
  std::string user_path = sources.named ? *sources.named : sources.user.value_or("");
  if (!user_path.empty())
    user_path = std::filesystem::absolute(user_path).lexically_normal().string();
  TRY_ASSIGN(const auto user, load_layer(config, user_path, "user"));
  if (sources.named && !user)
    return wrong_at(user_path, 0, "does not exist;", "--config must name a file.");
  if (user) TRY(apply_trusted(config, *user, ceiling ? &*ceiling : nullptr));

  std::string workspace_path;
  if (!sources.workspace.empty())
    workspace_path = (std::filesystem::path(sources.workspace) / kWorkspaceFile).string();
  TRY_ASSIGN(const auto workspace, load_layer(config, workspace_path, "workspace"));
  if (workspace) TRY(apply_workspace(config, *workspace));

  std::vector<const ConfigLayer*> layers;
  if (user) layers.push_back(&*user);
  if (managed) layers.push_back(&*managed);
  TRY(check_names(config, layers));
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

}  // namespace agentrt::runtime
