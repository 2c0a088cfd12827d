// outputs/retention.h: outputs are kept for a while and within a bound; then they really go.
//
// A sweep finds the outputs whose time is over and, where all of them together are too large, the
// oldest; appends output.expired for each; and only then removes the blobs that no kept output
// names, and those that none has named for a day (a crash between blob and fact, or between fact
// and removal). At every step a crash leaves either what was there before, or bytes without a name,
// which a later sweep finds.
//
// Starts on the core; the sweeps themselves run on the worker. Memory grows with the number of kept
// outputs while a sweep runs, some 150 bytes each.
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

// Whether an output that was stored at `spilled_at` is past its time, by the time that passed: the
// wall clock may have been set since. Any thread.
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
