#include "config/models.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace agentrt::config {
namespace {

// The defaults of a known provider.
struct ProviderRow {
  std::string_view provider;
  std::string_view base_url;
  std::string_view key_env;
};
constexpr std::array<ProviderRow, 3> kProviders = {
    {{"openai_chat", "https://api.openai.com/v1", "OPENAI_API_KEY"},
     {"openai_responses", "https://api.openai.com/v1", "OPENAI_API_KEY"},
     {"anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"}}};

const ProviderRow* row_of(std::string_view provider) {
  const auto at = std::ranges::find(kProviders, provider, &ProviderRow::provider);
  return at == kProviders.end() ? nullptr : &*at;
}

// A model that environment variables define, and the names of these variables.
struct EnvironmentRow {
  const char* name;
  const char* provider;
  const char* key;
  const char* url;
  const char* model;
  const char* model_default;
};
constexpr std::array<EnvironmentRow, 2> kEnvironment = {
    {{"openai", "openai_chat", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "gpt-5"},
     {"anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL",
      "claude-sonnet-4-5"}}};

}  // namespace

std::optional<std::string> value_of(const Environment& environment, std::string_view name) {
  auto value = environment(name);
  return value && !value->empty() ? value : std::nullopt;
}

std::optional<std::string> key_in(const Environment& environment, std::string_view name) {
  constexpr std::string_view kBlank = " \t\r\n";
  auto value = environment(name);
  if (!value || value->find_first_not_of(kBlank) == std::string::npos) return std::nullopt;
  value->erase(value->find_last_not_of(kBlank) + 1);
  value->erase(0, value->find_first_not_of(kBlank));
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return std::ranges::any_of(*value, control) ? std::nullopt : value;
}

bool known_provider(std::string_view provider) {
  return provider == "script" || row_of(provider) != nullptr;
}

Result<void> check_base_url(std::string_view url) {
  std::string_view rest = url;
  for (const std::string_view scheme : {"http://", "https://"})
    if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  const bool named = rest.size() < url.size() && !rest.empty() && rest.front() != '/';
  if (!named || rest.find_first_of("@?# \t\r\n\\") != std::string_view::npos)
    return fail(Code::invalid_params,
                "must be a URL like https://HOST/v1, without user name, query or spaces.");
  return {};
}

void fill_in_endpoint(ModelConfig& model, std::optional<bool> images) {
  const ProviderRow* const row = row_of(model.provider);
  if (row == nullptr) return;  // the check of its layer reports this
  // The providers' own current models all take images; of other servers nothing is known.
  if (!images && !model.base_url) images = true;
  if (!model.base_url) {
    model.base_url = std::string(row->base_url);
    if (!model.api_key_env) model.api_key_env = std::string(row->key_env);
  }
  if (model.capabilities.empty()) model.capabilities = {"tools", "streaming"};
  const std::string_view word = images.value_or(true) ? kTakesImages : kTakesNoImages;
  if (images && std::ranges::find(model.capabilities, word) == model.capabilities.end())
    model.capabilities.emplace_back(word);
  if (!model.model_setting.empty()) return;
  model.model_setting = fmt::format("model in [models.{}]", model.name);
  model.url_setting = fmt::format("base_url in [models.{}]", model.name);
  model.key_setting = fmt::format(
      "set api_key_env in [models.{}] to the environment variable that contains it", model.name);
}

Result<void> add_environment_models(Config& config, const Environment& environment) {
  for (const EnvironmentRow& row : kEnvironment) {
    const auto key = key_in(environment, row.key);
    const auto url = value_of(environment, row.url);
    if (!key && !url) continue;
    if (url)
      if (const auto checked = check_base_url(*url); !checked)
        return fail(Code::invalid_params, fmt::format("{} {}", row.url, checked.error().message));
    ModelConfig model;
    model.name = row.name;
    model.provider = row.provider;
    model.model = value_of(environment, row.model).value_or(row.model_default);
    model.model_setting = row.model;
    model.url_setting = row.url;
    model.key_setting = fmt::format("set {}", row.key);
    model.base_url = url;
    if (key) model.api_key_env = row.key;
    fill_in_endpoint(model);
    config.models[row.name] = std::move(model);
    if (!config.routing.default_name) config.routing.default_name = row.name;
  }
  return {};
}

std::optional<std::string> missing_key(const ModelConfig& model, const Environment& environment) {
  if (!model.api_key_env || key_in(environment, *model.api_key_env)) return std::nullopt;
  return model.api_key_env;
}

}  // namespace agentrt::config
