#include "runtime/configured_models.h"

#include <algorithm>

#include "config/models.h"

namespace agentrt::runtime {
namespace {

std::int64_t or_default(const std::optional<std::uint64_t>& given, std::int64_t otherwise) {
  return given ? static_cast<std::int64_t>(*given) : otherwise;
}

adapters::Endpoint endpoint_of(const config::ModelConfig& model,
                               const config::Environment& environment) {
  adapters::Endpoint endpoint;
  endpoint.provider = model.provider;
  endpoint.model = model.model;
  endpoint.base_url = model.base_url.value_or("");
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  if (model.api_key_env) {
    endpoint.key_env = *model.api_key_env;
    endpoint.key = config::key_in(environment, *model.api_key_env).value_or("");
  }
  endpoint.model_setting = model.model_setting;
  endpoint.url_setting = model.url_setting;
  endpoint.key_setting = model.key_setting;
  endpoint.max_output_tokens = model.max_output_tokens;
  endpoint.takes_tools = std::ranges::count(model.capabilities, "tools") > 0;
  endpoint.reasons = std::ranges::count(model.capabilities, "reasoning") > 0;
  endpoint.keep_payloads =
      model.debug_payloads.value_or(config::value_of(environment, "AGENTRT_DEBUG_PAYLOADS") == "1");
  adapters::HttpTimeouts& limits = endpoint.timeouts;
  limits.connect_ms = or_default(model.connect_timeout_ms, limits.connect_ms);
  limits.first_byte_ms = or_default(model.first_byte_timeout_ms, limits.first_byte_ms);
  limits.idle_ms = or_default(model.idle_timeout_ms, limits.idle_ms);
  limits.whole_ms = or_default(model.answer_timeout_ms, limits.whole_ms);
  return endpoint;
}

adapters::ModelRouting routing_of(const config::Config& config) {
  return {config.routing.default_name.value_or(""), config.routing.fallback,
          config.routing.candidates.value_or(std::vector<std::string>{})};
}

}  // namespace

std::vector<adapters::ConfiguredModel> configured_models(const config::Config& config,
                                                         const config::Environment& environment) {
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

adapters::ModelSet models_of(const config::Config& config, const config::Environment& environment) {
  return {configured_models(config, environment), routing_of(config)};
}

Result<adapters::ModelSet> models_of_client(config::ConfigSources sources, OwnerKind kind,
                                            config::TrustRecords& trust,
                                            const ports::ClientEnvironment& client) {
  if (client.config) sources.named = client.config;
  if (client.workspace) {
    sources.workspace = config::real_workspace(*client.workspace);
    TRY_ASSIGN(sources.trusted, trust.of(sources.workspace));
  }
  auto variables = client.settings;
  variables.insert(variables.end(), client.credentials.begin(), client.credentials.end());
  const config::Environment given = config::environment_of(std::move(variables));
  const config::Environment environment =
      [given, kind, own = config::process_environment()](std::string_view name) {
        auto value = given(name);
        return value || kind == OwnerKind::background ? value : own(name);
      };
  TRY_ASSIGN(const config::Config config, config::load_config(sources, environment));
  return models_of(config, environment);
}

}  // namespace agentrt::runtime
