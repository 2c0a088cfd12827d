// kernel/loader.h: loads a session's view from the store: the stored snapshot plus the facts after
// it, or all facts if there is no usable snapshot. Blocks; runs on a worker. The lanes use it.
#pragma once

#include <optional>
#include <string>

#include "state/index.h"
#include "state/session.h"
#include "store/store.h"

namespace agentrt::kernel {

struct Loaded {
  state::Session view;
  std::vector<state::Task> tasks;  // of running and queued turns, with their ancestors
  // Why there is no usable snapshot: it is damaged or from another version of the fold
  // (fold_version), or missing although the log records one. The lane then stores a new one.
  // nullopt: it was used, or there was none.
  std::optional<std::string> repaired;
};

// For a session that does not exist, returns an empty view (Session::exists() is false). Errors:
// those of the store; `internal` if a fact is damaged.
Result<Loaded> load(store::Store& store, const SessionId& session, std::size_t task_depth_max);

// Derives the index rows of `session` again from its whole log and replaces the stored ones;
// drops its snapshot. The simulation uses it to check that index rows follow from the log.
Result<void> rebuild_index(store::Store& store, const SessionId& session);

// Converts an index row of state to that of the store, which does not know state.
store::IndexRow to_row(state::ObjectRow row);

}  // namespace agentrt::kernel
