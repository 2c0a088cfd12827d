// outputs/limits.h: the bounds of stored outputs, each with its default.
#pragma once

#include <cstddef>
#include <cstdint>

namespace agentrt::outputs {

struct OutputLimits {
  std::uint64_t upload_bytes_max = std::uint64_t{64} << 20;
  std::size_t uploads_max = 64;                       // in progress at once; more is `overloaded`
  std::uint64_t bytes_max = std::uint64_t{10} << 30;  // of all blobs; the oldest outputs go first
  std::int64_t sweep_ms = 3'600 * 1'000;
  std::int64_t orphan_ms = 24LL * 3'600 * 1'000;  // until a blob that no output names goes
  std::size_t expiries_at_once_max = 64;          // reports in flight of one sweep
  std::size_t page_rows = 1'000;                  // index rows that a sweep reads at once
};

}  // namespace agentrt::outputs
