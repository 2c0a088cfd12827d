// runtime/context_settings.h: passes the configuration of [context] to decisions and to the engine.
#pragma once

#include "config/config.h"
#include "control/decide.h"
#include "engine/engine.h"

namespace agentrt::runtime {

inline void set_context(const config::ContextConfig& config, control::Settings& settings) {
  settings.compacts = config.compact == config::Compact::auto_;
  settings.compact_percent = static_cast<std::uint64_t>(config.compact_at * 100);
}

inline engine::Engine::Parts::Context context_of(const config::Config& config) {
  return {.compacts = config.context.compact == config::Compact::auto_,
          .model = config.context.compact_model,
          .timeout_ms = static_cast<std::int64_t>(config.context.compact_timeout_ms)};
}

}  // namespace agentrt::runtime
