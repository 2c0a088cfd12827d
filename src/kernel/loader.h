// kernel/loader.h: a session's view from the store: the newest usable snapshot and the facts after
// it. Blocks; runs on a worker.
#pragma once

#include <optional>
#include <string>

#include "state/index.h"
#include "state/session.h"
#include "store/store.h"

namespace agentrt::kernel {

struct Loaded {
  state::Session view;
  std::optional<std::string> repaired;  // why the stored snapshot was not used
};

// A session that does not exist is a view that does not (Session::exists()).
Result<Loaded> load(store::Store& store, const SessionId& session);

// The index rows that `session`'s log gives, derived from its first fact on.
Result<void> rebuild_index(store::Store& store, const SessionId& session);

store::IndexRow to_row(state::ObjectRow row);

}  // namespace agentrt::kernel
