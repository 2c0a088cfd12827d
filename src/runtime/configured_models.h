// runtime/configured_models.h: the models of a configuration as the adapters take them.
//
// A key is read from its variable when the runtime starts, and passed only to the adapter.
#pragma once

#include <vector>

#include "adapters/models/catalog.h"
#include "config/config.h"

namespace agentrt::runtime {

std::vector<adapters::ConfiguredModel> configured_models(const config::Config& config,
                                                         const config::Environment& environment);

}  // namespace agentrt::runtime
