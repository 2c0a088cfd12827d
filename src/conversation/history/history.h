// conversation/history/history.h: converts the earlier turns of a thread, and the running turn so
// far, to messages for a model.
#pragma once

#include "conversation/history/kept_history.h"
#include "conversation/history/limits.h"
#include "ports/workspace.h"
#include "store/store.h"

namespace agentrt::conversation {

// Blocks; called on a worker. Errors: unavailable: facts that the query requires are neither stored
// nor cached.
Result<ports::HistoryWindow> history_window(store::Store& store, const HistoryLimits& limits,
                                            const ports::HistoryQuery& query, KeptHistory& kept);

}  // namespace agentrt::conversation
