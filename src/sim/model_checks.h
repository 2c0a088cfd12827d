// sim/model_checks.h: whether the read models of a session are the same in the running runtime,
// from a snapshot and the facts after it, from a fold of the whole log, and in a later read of the
// past.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/limits.h"
#include "ports/control_plane.h"
#include "sim/checks.h"

namespace agentrt::sim {

inline constexpr std::size_t kModelSamplesMax = 3;  // per session
inline constexpr Sequence kModelSampleEvery = 37;   // facts, at least

// Sends a read to the running runtime and waits for the reply.
using Ask = std::function<ports::Reply(const std::string& name, const std::string& params)>;

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
  // Compares the samples with what get_read_model with atSequence returns now.
  Checked check_past(const SessionId& session, Sequence head, const Ask& ask) const;

 private:
  struct Model {
    std::optional<ThreadId> thread;  // that it was narrowed to, because it needs one
    std::string json;
  };
  using Models = std::map<std::string, Model>;  // by name
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
