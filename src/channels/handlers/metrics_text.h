// channels/handlers/metrics_text.h: renders the counters in the Prometheus text format. Pure.
#pragma once

#include <string>

#include "ports/metrics.h"

namespace agentrt::channels {

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_text(const ports::Metrics& metrics);

}  // namespace agentrt::channels
