// conversation/history/history.h: converts the earlier turns of a thread, and the running turn so
// far, to messages for a model.
//
// The kernel calls it to implement ports::History for the engine, because the engine does not see
// the store. An earlier turn that failed or was cancelled is included with a note that says so.
#pragma once

#include "conversation/history/kept_history.h"
#include "conversation/history/limits.h"
#include "ports/workspace.h"
#include "store/store.h"

namespace agentrt::conversation {

// Blocks; called on a worker. `kept` is consulted first and then holds the result for the next
// request of the turn. Errors: unavailable: facts that the query requires are neither stored nor
// cached, so a later call may succeed; not_found: there is no such turn; limit_exceeded: the
// running turn has more than facts_max facts; internal: the log is damaged.
Result<ports::HistoryWindow> history_window(store::Store& store, const HistoryLimits& limits,
                                            const ports::HistoryQuery& query, KeptHistory& kept);

}  // namespace agentrt::conversation
