// runtime/configured_models.h: the models of a configuration as the adapters take them.
//
// A key is read from its variable when the runtime starts, and passed only to the adapter.
#pragma once

#include <vector>

#include "adapters/models/catalog.h"
#include "config/config.h"
#include "config/trust.h"
#include "ports/client_environments.h"
#include "runtime/data_folder.h"

namespace agentrt::runtime {

std::vector<adapters::ConfiguredModel> configured_models(const config::Config& config,
                                                         const config::Environment& environment);

// These models, and which of them routing selects.
adapters::ModelSet models_of(const config::Config& config, const config::Environment& environment);

// What a client's environment, its --config and the trusted files of its workspace give now. The
// environment of `serve` supplies what the client lacks; that of a background owner is another's.
Result<adapters::ModelSet> models_of_client(config::ConfigSources sources, OwnerKind kind,
                                            config::TrustRecords& trust,
                                            const ports::ClientEnvironment& client);

}  // namespace agentrt::runtime
