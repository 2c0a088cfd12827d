#include "adapters/models/catalog.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::adapters {

namespace {

constexpr std::string_view kScriptPrefix = "script:";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// `script:FILE` names a model that nobody configured: the file itself.
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

}  // namespace

ModelCatalog::ModelCatalog(ports::Loop& loop, ports::Worker& worker,
                           std::vector<ConfiguredModel> models, ModelRouting routing)
    : scripts_(loop, worker), models_(std::move(models)), routing_(std::move(routing)) {}

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
    if (offered(model, requested))
      choice.candidates.push_back(model.candidate);
    else
      choice.excluded.push_back({model.candidate.name, "policy"});
  }
  if (requested && !find(*requested)) {
    if (auto script = script_named(*requested))
      choice.candidates.push_back(std::move(script->candidate));
    else
      choice.excluded.push_back({*requested, "unknown_model"});
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
  scripts_.start(model->script, request.id, request.ended_requests + 1, std::move(listener));
}

void ModelCatalog::cancel(const ModelRequestId& request) { scripts_.cancel(request); }

}  // namespace agentrt::adapters
