// outputs/inherited.h: whether a session that began as a fork may read an output of the session
// that it was forked from.
//
// It may read what the inherited turns name: outputs that were stored for them, and uploads that
// are part of their input. Blocks; any thread.
#pragma once

#include "store/store.h"

namespace agentrt::outputs {

// Turns of the source whose input is searched for an upload; older ones do not count.
inline constexpr std::size_t kInputsSearchedMax = 1'000;

// `output`: the index row of an output of another session. Errors: those of the store.
Result<bool> is_inherited(store::Store& store, const SessionId& session,
                          const store::IndexEntry& output);

}  // namespace agentrt::outputs
