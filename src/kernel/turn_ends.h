// kernel/turn_ends.h: finds the fact that ended a turn, for decisions that refer to it
// (control::Needs::ended).
#pragma once

#include "control/decide.h"
#include "store/store.h"

namespace agentrt::kernel {

// nullopt: the session has no such turn. Blocks; called on a worker. Errors: those of the store;
// `internal` if the index row of the turn is damaged.
Result<std::optional<control::LaneReads::EndedTurn>> find_end(store::Store& store,
                                                              const SessionId& session,
                                                              const TurnId& turn);

}  // namespace agentrt::kernel
