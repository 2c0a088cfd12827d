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

const ConfiguredModel* find(const ModelSet& set, const std::string& name) {
  const auto at = std::ranges::find(set.models, name,
                                    [](const auto& m) -> const auto& { return m.candidate.name; });
  return at == set.models.end() ? nullptr : &*at;
}

bool offered(const ModelSet& set, const ConfiguredModel& model,
             const std::vector<std::string>& named) {
  const std::string& name = model.candidate.name;
  const ModelRouting& routing = set.routing;
  if (contains(named, name) || routing.default_name == name || contains(routing.fallback, name))
    return true;
  if (!routing.candidates.empty()) return contains(routing.candidates, name);
  return model.candidate.provider != "script";
}

bool lacks_key(const ConfiguredModel& model) {
  return model.endpoint && !model.endpoint->key_env.empty() && model.endpoint->key.empty();
}

}  // namespace

ModelCatalog::ModelCatalog(ports::Loop& loop, ports::Worker& worker, ModelSet own,
                           ModelsOfTurn of_turn)
    : loop_(loop),
      scripts_(loop, worker),
      own_(std::make_shared<const ModelSet>(std::move(own))),
      of_turn_(std::move(of_turn)) {}

std::shared_ptr<const ModelSet> ModelCatalog::models_of(const TurnId& turn) const {
  auto set = of_turn_ ? of_turn_(turn) : nullptr;
  return set ? std::move(set) : own_;
}

ports::ModelChoice ModelCatalog::choice(const TurnId& turn, const std::vector<std::string>& named) {
  const std::shared_ptr<const ModelSet> set = models_of(turn);
  ports::ModelChoice choice;
  choice.default_name = set->routing.default_name;
  choice.fallback = set->routing.fallback;
  for (const ConfiguredModel& model : set->models) {
    if (!offered(*set, model, named))
      choice.excluded.push_back({model.candidate.name, "policy", {}});
    else if (lacks_key(model))
      choice.excluded.push_back(
          {model.candidate.name, "credential",
           fmt::format("set {}, then start agentrt again", model.endpoint->key_env)});
    else
      choice.candidates.push_back(model.candidate);
  }
  for (const std::string& name : named) {
    const auto is_known = [&](const auto& one) { return one.name == name; };
    if (std::ranges::any_of(choice.candidates, is_known) ||
        std::ranges::any_of(choice.excluded, is_known))
      continue;
    if (auto script = script_named(name))
      choice.candidates.push_back(std::move(script->candidate));
    else
      choice.excluded.push_back({name, "unknown_model", {}});
  }
  return choice;
}

void ModelCatalog::start(ports::ModelRequest request,
                         std::shared_ptr<ports::ModelListener> listener) {
  std::optional<ConfiguredModel> named;
  const std::shared_ptr<const ModelSet> set = models_of(request.turn);
  const ConfiguredModel* model = find(*set, request.model_name);
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
         .retry_after_ms = {},
         .cause = schema::FaultCause::unknown_model});
  if (model->endpoint && !http_) http_ = std::make_unique<HttpModels>(loop_);
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
