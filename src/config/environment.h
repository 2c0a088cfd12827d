// config/environment.h: environment variables as a function, so that tests can supply their own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agentrt::config {

// Looks up an environment variable; absent and empty are the same.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
Environment process_environment();

// An environment of values that are given. Variable: has members name and value.
template <class Variables>
Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    for (const auto& variable : variables)
      if (variable.name == name && !variable.value.empty()) return variable.value;
    return std::nullopt;
  };
}

}  // namespace agentrt::config
