#include "adapters/models/catalog.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::adapters {

namespace {

constexpr std::string_view kScriptPrefix = "script:";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// `script:FILE` names a model that needs no configuration: it plays that file.
std::optional<ConfiguredModel> script_named(const std::string& name) {
  if (!name.starts_with(kScriptPrefix)) return std::nullopt;
  ConfiguredModel model;
  model.script = name.substr(kScriptPrefix.size());
  model.candidate.name = name;
  model.candidate.provider = "script";
  model.candidate.model = model.script.substr(model.script.rfind('/') + 1);
  model.candidate.capabilities = {"streaming"};
  return model;
}

bool lacks_key(const ConfiguredModel& model) {
  return model.endpoint && !model.endpoint->key_env.empty() && model.endpoint->key.empty();
}

}  // namespace

ModelCatalog::ModelCatalog(ports::Loop& loop, ports::Worker& worker,
                           std::vector<ConfiguredModel> models, ModelRouting routing)
    : scripts_(loop, worker), models_(std::move(models)), routing_(std::move(routing)) {
  if (std::ranges::any_of(models_, [](const auto& model) { return model.endpoint.has_value(); }))
    http_ = std::make_unique<HttpModels>(loop);
}

const ConfiguredModel* ModelCatalog::find(const std::string& name) const {
  const auto at = std::ranges::find(models_, name,
                                    [](const auto& m) -> const auto& { return m.candidate.name; });
  return at == models_.end() ? nullptr : &*at;
}

bool ModelCatalog::offered(const ConfiguredModel& model,
                           const std::optional<std::string>& requested) const {
  const std::string& name = model.candidate.name;
  if (requested == name || routing_.default_name == name || contains(routing_.fallback, name))
    return true;
  if (!routing_.candidates.empty()) return contains(routing_.candidates, name);
  return model.candidate.provider != "script";
}

ports::ModelChoice ModelCatalog::choice(const std::optional<std::string>& requested) {
  ports::ModelChoice choice;
  choice.default_name = routing_.default_name;
  choice.fallback = routing_.fallback;
  for (const ConfiguredModel& model : models_) {
    if (!offered(model, requested))
      choice.excluded.push_back({model.candidate.name, "policy", {}});
    else if (lacks_key(model))
      choice.excluded.push_back(
          {model.candidate.name, "credential",
           fmt::format("set {}, then start agentrt again", model.endpoint->key_env)});
    else
      choice.candidates.push_back(model.candidate);
  }
  if (requested && !find(*requested)) {
    if (auto script = script_named(*requested))
      choice.candidates.push_back(std::move(script->candidate));
    else
      choice.excluded.push_back({*requested, "unknown_model", {}});
  }
  return choice;
}

void ModelCatalog::start(ports::ModelRequest request,
                         std::shared_ptr<ports::ModelListener> listener) {
  std::optional<ConfiguredModel> named;
  const ConfiguredModel* model = find(request.model_name);
  if (!model) {
    named = script_named(request.model_name);
    if (named) model = &*named;
  }
  if (!model)
    return listener->on_failed(
        {.error = {schema::Category::unavailable,
                   fmt::format("the model {} is no longer configured", request.model_name), false},
         .provider_status = {},
         .ended_by_provider = false,
         .retry_after_ms = {}});
  if (model->endpoint)
    return http_->start(model->candidate.name, *model->endpoint, std::move(request),
                        std::move(listener));
  scripts_.start(model->script, request.id, request.ended_requests + 1, std::move(listener));
}

void ModelCatalog::cancel(const ModelRequestId& request) {
  scripts_.cancel(request);
  if (http_) http_->cancel(request);
}

void ModelCatalog::stop() {
  if (http_) http_->stop();
}

}  // namespace agentrt::adapters
