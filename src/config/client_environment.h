// config/client_environment.h: what a command sends of its environment to the owner of the data
// folder, for the turn that it submits or resumes.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "ports/client_environments.h"

namespace agentrt::config {

// The variables that commands get, those that configure models, the credentials that the
// configuration names, and where its files are. Nothing else of the environment leaves the client.
ports::ClientEnvironment client_environment(const Config& config, const Environment& environment);

// Whether the file sets nothing but [models] and [routing]. Fails as load_config() does.
Result<bool> names_only_models(const std::string& path);

}  // namespace agentrt::config
