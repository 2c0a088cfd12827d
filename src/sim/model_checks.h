// sim/model_checks.h: whether the read models of a session are the same in the running runtime,
// from a snapshot and the facts after it, and from a fold of the whole log.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernel/limits.h"
#include "sim/checks.h"

namespace agentrt::sim {

inline constexpr std::size_t kModelSamplesMax = 3;  // per session
inline constexpr Sequence kModelSampleEvery = 37;   // facts, at least

// The models of one session, as the runtime would return them at some of its sequences.
class ModelSamples {
 public:
  ModelSamples(const control::Settings& settings, const kernel::Limits& limits)
      : settings_(settings), limits_(limits) {}

  // Takes a sample, if the last one was long enough ago. REQUIRES: the rows of the store are as of
  // the view.
  void offer(store::Store& store, const state::Session& view);
  // Compares the samples with models from the log alone. `store`: the one that the log is from.
  Checked check(store::Store& store, const Log& log) const;

 private:
  using Models = std::map<std::string, std::string>;  // by name, and thread if it needs one
  struct Sample {
    Sequence sequence = 0;
    Models models;
  };

  Models read(store::Store& store, const state::Session& view) const;

  const control::Settings& settings_;
  const kernel::Limits& limits_;
  std::vector<Sample> samples_;
};

}  // namespace agentrt::sim
