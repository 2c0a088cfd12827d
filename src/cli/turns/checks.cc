#include "cli/turns/checks.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "cli/decisions/trusted_config.h"
#include "config/client_environment.h"
#include "config/models.h"

namespace agentrt::cli {
namespace {

// Checks that the model to use has its key. Without a default model, one with a key is enough.
Result<void> check_key(const Context& context, const config::Config& config,
                       const std::optional<std::string>& model) {
  const std::optional<std::string> wanted = model ? model : config.routing.default_name;
  std::optional<std::string> lacking;
  for (const auto& [name, each] : config.models) {
    if (wanted && name != *wanted) continue;
    const auto variable = config::missing_key(each, context.environment);
    if (!variable && (wanted || each.provider != "script")) return {};
    if (variable && !lacking)
      lacking = fmt::format("The model {} needs an API key; set {} to it and try again.", name,
                            *variable);
  }
  if (!lacking) return {};
  return fail(Code::invalid_params, *lacking);
}

std::string unknown_model(const std::string& name, const config::Config& config,
                          const std::string& file) {
  std::string known;
  for (const auto& [each, _] : config.models) known += (known.empty() ? "" : ", ") + each;
  if (known.empty())
    return fmt::format(
        "There is no model {0}, and no other is configured; add [models.{0}] to {1}, as "
        "docs/models.md shows.",
        name, file);
  return fmt::format(
      "There is no model {0}; configured {3} {1}. Use one of these, or add [models.{0}] to {2}.",
      name, known, file, config.models.size() == 1 ? "is" : "are");
}

}  // namespace

Result<void> check_models(const Context& context, const config::Config& config,
                          const std::optional<std::string>& model) {
  const std::string file =
      context.arguments.config
          ? *context.arguments.config
          : config::user_config_path(context.environment).value_or("the configuration file");
  if (model) {
    if (config.models.contains(*model)) return check_key(context, config, model);
    return fail(Code::invalid_params,
                unknown_model(*model, config, file) + untrusted_models(config));
  }
  if (config.models.empty())
    return fail(
        Code::invalid_params,
        fmt::format(
            "No model is configured; set OPENAI_API_KEY (or OPENAI_BASE_URL for your own server) "
            "or ANTHROPIC_API_KEY, or add [models.main] to {}, as docs/models.md shows.{}",
            file, untrusted_models(config)));
  const config::RoutingConfig& routing = config.routing;
  const bool plays_only = std::ranges::all_of(
      config.models, [](const auto& each) { return each.second.provider == "script"; });
  if (plays_only && !routing.default_name && routing.fallback.empty() && !routing.candidates)
    return fail(Code::invalid_params,
                fmt::format("No model is selected, because script models are used only when named; "
                            "set [routing] default in {}, or use --model {}.",
                            file, config.models.begin()->first));
  return check_key(context, config, model);
}

TurnId fresh_turn_id() {
  std::random_device random;
  const std::uint64_t seed = std::uint64_t{random()} << 32 | random();
  return FreshIds{now_of_clock(), seed}.next<TurnId>();
}

Result<void> check_config(const Context& context, const runtime::Owner& owner) {
  const auto named = config_path_of(context);
  if (!named || named == owner.config) return {};
  TRY_ASSIGN(const bool only_models, config::names_only_models(*named));
  if (only_models) return {};
  return fail(Code::invalid_params,
              fmt::format("--config {} cannot be used: process {}, which owns the data folder, has "
                          "work to do with {}; wait for it, stop it, or choose another folder with "
                          "--data.",
                          *named, owner.pid,
                          owner.config ? *owner.config : std::string("the user's configuration")));
}

Result<void> check_policy(const config::Config& config, const schema::TurnOptions& options) {
  if (options.mode && config.managed_mode &&
      !policy::at_most_as_lax(*options.mode, *config.managed_mode))
    return fail(Code::invalid_params,
                fmt::format("--mode {} allows more than {} permits; choose a stricter mode.",
                            schema::name_of(*options.mode), config::kManagedFile));
  if (options.sandbox && config.managed_sandbox &&
      !policy::at_most_as_lax(*options.sandbox, *config.managed_sandbox))
    return fail(Code::invalid_params,
                fmt::format("--sandbox {} allows more than {} permits; choose a stricter profile.",
                            schema::name_of(*options.sandbox), config::kManagedFile));
  return {};
}

Result<void> use_folder(const Context& context, const Client& client, const std::string& cwd,
                        const std::optional<std::string>& model, config::Config& config) {
  if (cwd == config.sources.workspace && config.policy_files.empty()) return {};
  TRY_ASSIGN(config, with_trusted_files(config, client, cwd, context.environment));
  if (const auto script = config::script_model(model.value_or("")))
    config.models[script->name] = *script;
  return {};
}

Result<void> add_script(config::Config& config, const std::string& model) {
  if (model == "script:")
    return fail(Code::invalid_params, "--model script: does not name a file; write script:FILE.");
  const auto script = config::script_model(model);
  if (!script) return {};
  std::error_code error;
  if (!std::filesystem::is_regular_file(script->script, error))
    return fail(Code::invalid_params,
                fmt::format("The script {} {}; check --model.", script->script,
                            std::filesystem::exists(script->script, error) ? "is not a file"
                                                                           : "does not exist"));
  config.models[script->name] = *script;
  return {};
}

Result<void> send_environment(const Client& client, const TurnId& turn,
                              const std::string& environment) {
  if (environment.empty()) return {};
  const std::string target = fmt::format("/v1/turns/{}/environment", url_escaped(turn.text()));
  TRY(client.ask("POST", target, environment));
  return {};
}

}  // namespace agentrt::cli
