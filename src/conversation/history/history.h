// conversation/history/history.h: the conversation of a thread for a model request, from memory or
// from the log.
//
// The kernel calls it to implement ports::History for the engine, because the engine does not see
// the store. An earlier turn that failed or was cancelled is included with a note that says so.
#pragma once

#include "conversation/history/kept_conversations.h"
#include "conversation/history/limits.h"
#include "ports/workspace.h"
#include "store/store.h"

namespace agentrt::conversation {

// Blocks; called on a worker. `kept` is consulted first and then holds the conversation for the
// next request. Errors: unavailable: facts that the query requires are neither stored nor cached,
// so a later call may succeed; not_found: there is no such turn; internal: the log is damaged.
Result<ports::HistoryWindow> history_window(store::Store& store, const ports::HistoryQuery& query,
                                            KeptConversations& kept);

}  // namespace agentrt::conversation
