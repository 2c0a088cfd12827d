// config/config_digest.h: identifies what a process was configured with, so that a command can tell
// whether the owner of the data folder has the same configuration.
#pragma once

#include <string>

#include "config/config.h"

namespace agentrt::config {

// SHA-256, in hexadecimal, of the files of the host and the user, and of the variables that
// connections to providers use (certificates, proxies). Files of a workspace are not included: they
// are read for each turn. Neither is the rest of the environment: each turn has its own.
std::string config_digest(const Config& config, const Environment& environment);

}  // namespace agentrt::config
