// Checks of values in a configuration file that have the right type: ranges, rules, folders and
// names of variables. An error names the file, the line and the key.
#pragma once

#include "base/result.h"
#include "config/config_file.h"

namespace agentrt::config {

Result<void> check_permissions(const ConfigLayer& layer);
Result<void> check_context(const ConfigLayer& layer);
Result<void> check_roots(const ConfigLayer& layer);
Result<void> check_write(const ConfigLayer& layer);
Result<void> check_shell_env(const ConfigLayer& layer);
Result<void> check_origins(const ConfigLayer& layer);
Result<void> check_mcp(const ConfigLayer& layer);

}  // namespace agentrt::config
