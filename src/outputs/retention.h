// outputs/retention.h: outputs are kept for a while and within a bound; then they really go.
//
// Outputs without an expiry live as long as their session: the history needs them.
//
// A sweep finds the outputs that are too old and, if the total is too large, the oldest others. It
// appends output.expired for each. Only then it removes the blobs that no kept output names, and
// blobs that have been unreferenced for a day (left by a crash between blob and fact, or between
// fact and removal). A crash at any step leaves either the previous state or unreferenced bytes,
// which a later sweep removes.
//
// Starts on the core; sweeps run on the worker. During a sweep, memory grows by about 150 bytes per
// kept output.
#pragma once

#include <memory>
#include <optional>

#include "outputs/limits.h"
#include "ports/control_plane.h"
#include "ports/loop.h"
#include "ports/metrics.h"
#include "store/blobs/blob_store.h"
#include "store/store.h"

namespace agentrt::outputs {

// Whether an output that was stored at `spilled_at` has expired. Uses elapsed time, because the
// wall clock may have been set. Any thread.
bool has_expired(std::optional<Timestamp> spilled_at, std::optional<Timestamp> expires_at,
                 const ports::Loop& clock);

class Retention {
 public:
  struct Parts {
    store::Store& store;
    store::BlobStore& blobs;
    ports::Loop& loop;
    ports::Worker& worker;
    ports::ReportSink& reports;
    ports::Metrics& metrics;
    OutputLimits limits;
  };

  explicit Retention(Parts parts);
  ~Retention();

  // Sweeps now, and again every limits.sweep_ms. Core only.
  void start();

 private:
  struct Sweep;

  void expire_some(const std::shared_ptr<Sweep>& sweep);
  void finish(const std::shared_ptr<Sweep>& sweep);
  // These block.
  Result<void> survey(Sweep& sweep);
  Result<void> collect(Sweep& sweep);
  void choose(Sweep& sweep) const;

  Parts parts_;
};

}  // namespace agentrt::outputs
