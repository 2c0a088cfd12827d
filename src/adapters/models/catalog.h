// adapters/models/catalog.h: the configured models, each with the adapter of its provider.
#pragma once

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

// Core only.
class ModelCatalog final : public ports::Models {
 public:
  ModelCatalog(ports::Loop& loop, ports::Worker& worker, std::vector<ConfiguredModel> models,
               ModelRouting routing);

  ports::ModelChoice choice(const std::optional<std::string>& requested) override;
  void start(ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener) override;
  void cancel(const ModelRequestId& request) override;
  // Closes every connection. No request can be started afterwards.
  void stop();

 private:
  const ConfiguredModel* find(const std::string& name) const;
  bool offered(const ConfiguredModel& model, const std::optional<std::string>& requested) const;

  ScriptPlayer scripts_;
  std::unique_ptr<HttpModels> http_;  // created only if a model needs it: it has its own thread
  std::vector<ConfiguredModel> models_;
  ModelRouting routing_;
};

}  // namespace agentrt::adapters
