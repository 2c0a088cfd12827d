// kernel/session_reads.h: the answers to get_session and get_thread_read: the view, and what is in
// index rows: history, older threads, tasks and jobs. All of them block and run on a worker. The
// rows must be as of the view (ReadWork::holds).
#pragma once

#include "kernel/limits.h"
#include "schema/commands.h"
#include "state/session.h"
#include "store/store.h"

namespace agentrt::kernel {

// Errors: invalid_params: a wrong limit or cursor; not_found: no such thread; gone: a cursor of
// another generation; and those of the store.
Result<schema::SessionSnapshot> read_session(store::Store& store, const state::Session& view,
                                             const schema::GetSession& query, const Limits& limits);
Result<schema::ThreadRead> read_thread(store::Store& store, const state::Session& view,
                                       const ThreadId& thread, const Limits& limits);

// The error for a thread that the session does not have.
std::unexpected<Error> no_thread(const SessionId& session, const ThreadId& thread);
// Whether the session has the thread, closed or not.
Result<bool> has_thread(store::Store& store, const state::Session& view, const ThreadId& thread);

}  // namespace agentrt::kernel
