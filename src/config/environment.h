// config/environment.h: environment variables as a function, so that tests can supply their own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace agentrt::config {

// Looks up an environment variable; absent and empty are the same.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
Environment process_environment();

}  // namespace agentrt::config
