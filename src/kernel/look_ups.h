// kernel/look_ups.h: the answers to get_turn and find_object. Both block and run on a worker.
#pragma once

#include "kernel/limits.h"
#include "schema/commands.h"
#include "store/store.h"

namespace agentrt::kernel {

// The JSON of the replies. Errors: not_found: no such turn or object, or of another session than
// the one named; invalid_params: a wrong limit or cursor; gone: a cursor of another generation; and
// those of the store.
Result<std::string> get_turn(store::Store& store, const schema::GetTurn& query,
                             const Limits& limits);
Result<std::string> find_object(store::Store& store, const schema::FindObject& query);

}  // namespace agentrt::kernel
