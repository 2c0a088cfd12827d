// adapters/models/catalog.h: the configured models, each with the adapter of its provider.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/models/http_models.h"
#include "adapters/models/script.h"
#include "ports/models.h"

namespace agentrt::adapters {

struct ConfiguredModel {
  schema::Candidate candidate;
  std::string script;                // the script file, for a script model
  std::optional<Endpoint> endpoint;  // for every other model
};

struct ModelRouting {
  std::string default_name;
  std::vector<std::string> fallback;
  std::vector<std::string> candidates;  // empty: all models; script models only if named
};

struct ModelSet {
  std::vector<ConfiguredModel> models;
  ModelRouting routing;
};
// The models of one turn, which its client supplied; null: those of the runtime. Any thread.
using ModelsOfTurn = std::function<std::shared_ptr<const ModelSet>(const TurnId& turn)>;

// Core only.
class ModelCatalog final : public ports::Models {
 public:
  // `own`: the models of the runtime itself.
  ModelCatalog(ports::Loop& loop, ports::Worker& worker, ModelSet own, ModelsOfTurn of_turn = {});

  ports::ModelChoice choice(const TurnId& turn, const std::vector<std::string>& named) override;
  void start(ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener) override;
  void cancel(const ModelRequestId& request) override;
  // Closes every connection. No request can be started afterwards.
  void stop();

 private:
  std::shared_ptr<const ModelSet> models_of(const TurnId& turn) const;

  ports::Loop& loop_;
  ScriptPlayer scripts_;
  std::unique_ptr<HttpModels> http_;  // created when a request needs it: it has its own thread
  const std::shared_ptr<const ModelSet> own_;
  const ModelsOfTurn of_turn_;
};

}  // namespace agentrt::adapters
