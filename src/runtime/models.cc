#include "runtime/models.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace agentrt::runtime {
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

// An empty variable counts as unset.
std::optional<std::string> value_of(const Environment& environment, std::string_view name) {
  auto value = environment(name);
  return value && !value->empty() ? value : std::nullopt;
}

// Reads a key and trims white space. A key that is invalid in an HTTP header counts as unset.
std::optional<std::string> key_in(const Environment& environment, std::string_view name) {
  constexpr std::string_view kBlank = " \t\r\n";
  auto value = environment(name);
  if (!value || value->find_first_not_of(kBlank) == std::string::npos) return std::nullopt;
  value->erase(value->find_last_not_of(kBlank) + 1);
  value->erase(0, value->find_first_not_of(kBlank));
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return std::ranges::any_of(*value, control) ? std::nullopt : value;
}

std::int64_t or_default(const std::optional<std::uint64_t>& given, std::int64_t otherwise) {
  return given ? static_cast<std::int64_t>(*given) : otherwise;
}

adapters::Endpoint endpoint_of(const ModelConfig& model, const Environment& environment) {
  adapters::Endpoint endpoint;
  endpoint.provider = model.provider;
  endpoint.model = model.model;
  endpoint.base_url = model.base_url.value_or("");
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  if (model.api_key_env) {
    endpoint.key_env = *model.api_key_env;
    endpoint.key = key_in(environment, *model.api_key_env).value_or("");
  }
  endpoint.model_setting = model.model_setting;
  endpoint.url_setting = model.url_setting;
  endpoint.key_setting = model.key_setting;
  endpoint.max_output_tokens = model.max_output_tokens;
  endpoint.takes_tools = std::ranges::count(model.capabilities, "tools") > 0;
  endpoint.reasons = std::ranges::count(model.capabilities, "reasoning") > 0;
  endpoint.keep_payloads =
      model.debug_payloads.value_or(value_of(environment, "AGENTRT_DEBUG_PAYLOADS") == "1");
  adapters::HttpTimeouts& limits = endpoint.timeouts;
  limits.connect_ms = or_default(model.connect_timeout_ms, limits.connect_ms);
  limits.first_byte_ms = or_default(model.first_byte_timeout_ms, limits.first_byte_ms);
  limits.idle_ms = or_default(model.idle_timeout_ms, limits.idle_ms);
  limits.whole_ms = or_default(model.answer_timeout_ms, limits.whole_ms);
  return endpoint;
}

}  // namespace

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
                "must be a URL like https://HOST/v1, without a user name, a query or spaces.");
  return {};
}

void fill_in_endpoint(ModelConfig& model) {
  const ProviderRow* const row = row_of(model.provider);
  if (row == nullptr) return;  // the check of its layer reports this
  if (!model.base_url) {
    model.base_url = std::string(row->base_url);
    if (!model.api_key_env) model.api_key_env = std::string(row->key_env);
  }
  if (model.capabilities.empty()) model.capabilities = {"tools", "streaming"};
  if (!model.model_setting.empty()) return;
  model.model_setting = fmt::format("model in [models.{}]", model.name);
  model.url_setting = fmt::format("base_url in [models.{}]", model.name);
  model.key_setting =
      fmt::format("name the variable that holds it in api_key_env of [models.{}]", model.name);
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

std::vector<adapters::ConfiguredModel> configured_models(const Config& config,
                                                         const Environment& environment) {
  std::vector<adapters::ConfiguredModel> models;
  for (const auto& [name, model] : config.models) {
    adapters::ConfiguredModel out;
    out.candidate = {name, model.provider, model.model, model.capabilities, model.context_tokens};
    out.script = model.script;
    if (model.provider != "script") out.endpoint = endpoint_of(model, environment);
    models.push_back(std::move(out));
  }
  return models;
}

}  // namespace agentrt::runtime
