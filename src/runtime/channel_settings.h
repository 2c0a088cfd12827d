// runtime/channel_settings.h: passes the configuration of [channels] to decisions and to the
// kernel.
#pragma once

#include "config/connections.h"
#include "control/decide.h"
#include "kernel/limits.h"

namespace agentrt::runtime {

inline void set_channels(const config::ChannelConfig& config, control::Settings& settings) {
  constexpr std::int64_t kDayMs = 24LL * 3'600 * 1'000;
  settings.channels_max = config.per_session;
  settings.channel_expire_ms = static_cast<std::int64_t>(config.expire_days) * kDayMs;
}

inline kernel::Limits kernel_limits_of(const config::ChannelConfig& config) {
  kernel::Limits limits;
  limits.resumes_per_minute = config.resumes_per_minute;
  return limits;
}

}  // namespace agentrt::runtime
