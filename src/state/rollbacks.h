// state/rollbacks.h: folds what takes a thread back to an earlier turn: rollbacks, and the turns
// that restore files. Used by fold() and index() only.
#pragma once

#include "state/index.h"
#include "state/session.h"

namespace agentrt::state {

void fold_rollback(Thread& thread, const schema::Fact& fact, const schema::RollbackCompleted& p);

// A call of a turn that restores files begins. Returns whether the fact is about one.
bool fold_restore_call(Turn& turn, const schema::Fact& fact, const schema::ItemStarted& started);
void fold_restore_status(Turn& turn, const schema::RunStatus& status);

// The row of a rollback or a compaction; nullopt: the fact is neither.
std::optional<ObjectRow> boundary_row(const Session& session, const schema::Fact& fact);

}  // namespace agentrt::state
