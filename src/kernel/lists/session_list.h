// kernel/lists/session_list.h: the reply to list_sessions: a page of session summaries, by creation
// or by last change, with filters. Blocks and runs on a worker.
#pragma once

#include <functional>
#include <string>

#include "kernel/limits.h"
#include "schema/commands.h"
#include "store/store.h"

namespace agentrt::kernel {

// Whether a session's rows may be outdated, because an earlier boot left it with open work.
using IsStale = std::function<bool(const SessionId&)>;

// Newest first. With a filter it examines at most sessions_scanned_max rows, so a page may be short
// or empty and still have a cursor. Errors: invalid_params: a wrong limit, text or cursor; gone: a
// cursor of another generation; and those of the store.
Result<std::string> list_sessions(store::Store& store, const schema::ListSessions& query,
                                  const Limits& limits, const IsStale& is_stale);

}  // namespace agentrt::kernel
