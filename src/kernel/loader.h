// kernel/loader.h: loads a session's view from the store: the newest usable snapshot plus the facts
// after it. Blocks; runs on a worker.
#pragma once

#include <optional>
#include <string>

#include "state/index.h"
#include "state/session.h"
#include "store/store.h"

namespace agentrt::kernel {

struct Loaded {
  state::Session view;
  std::optional<std::string> repaired;  // why the stored snapshot was not used; empty: it was
};

// For a session that does not exist, returns an empty view (Session::exists() is false).
Result<Loaded> load(store::Store& store, const SessionId& session);

// Derives the index rows of `session` again from its whole log.
Result<void> rebuild_index(store::Store& store, const SessionId& session);

store::IndexRow to_row(state::ObjectRow row);

}  // namespace agentrt::kernel
