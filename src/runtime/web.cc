#include "runtime/web.h"

#include <algorithm>

#include "adapters/web/may_connect.h"

namespace agentrt::runtime {
namespace {

// A page is in memory while it is converted, so larger limits of the configuration are reduced.
constexpr std::uint64_t kPageBytesMax = 64 << 20;
constexpr std::uint64_t kPageMsMax = 600'000;

}  // namespace

std::unique_ptr<adapters::WebTools> make_web_tools(const config::LimitConfig& limits,
                                                   ports::Loop& core, ports::Worker& worker,
                                                   ports::OutputKeeper& keeper,
                                                   const policy::Redactor& redactor) {
  return std::make_unique<adapters::WebTools>(adapters::WebTools::Parts{
      .core = core,
      .worker = worker,
      .keeper = keeper,
      .redactor = &redactor,
      .limits = {.time_ms = std::min(limits.web_fetch_ms, kPageMsMax),
                 .bytes_max = std::min(limits.web_fetch_bytes, kPageBytesMax),
                 .redirects_max = limits.web_fetch_redirects},
      .may_connect = adapters::may_connect});
}

}  // namespace agentrt::runtime
