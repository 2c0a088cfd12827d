// runtime/web.h: makes the web tools with the limits of the configuration.
#pragma once

#include <memory>

#include "adapters/web/web_tools.h"
#include "config/config.h"

namespace agentrt::runtime {

// All parts must outlive the result.
std::unique_ptr<adapters::WebTools> make_web_tools(const config::LimitConfig& limits,
                                                   ports::Loop& core, ports::Worker& worker,
                                                   ports::OutputKeeper& keeper,
                                                   const policy::Redactor& redactor);

}  // namespace agentrt::runtime
