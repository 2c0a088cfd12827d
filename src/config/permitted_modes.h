// config/permitted_modes.h: the permission modes that the host policy allows.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace agentrt::config {

// Their names on the wire, in the order of the documentation.
std::vector<std::string> permitted_modes(const Config& config);

}  // namespace agentrt::config
