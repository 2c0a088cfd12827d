// conversation/history/lineage.h: which facts of a thread belong to its conversation: all up to a
// point, without those that rollbacks before that point have removed.
//
// A rollback is a row (schema/rollback.h) that names the range it removes. The ranges are found
// from the newest fact backwards, one look-up per rollback that counts, so a rollback within a
// removed range costs nothing.
#pragma once

#include <vector>

#include "store/store.h"

namespace agentrt::conversation {

// The facts of a thread after `after`, up to and with `up_to`.
struct Range {
  SessionId session;
  ThreadId thread;
  Sequence after = 0;
  Sequence up_to = 0;

  bool operator==(const Range&) const = default;
};

// The ranges of the thread's conversation as it was at fact `up_to`, newest first; those at or
// before `down_to` are left out. Blocks; called on a worker. REQUIRES: the fact is stored.
Result<std::vector<Range>> live_ranges(store::Store& store, const SessionId& session,
                                       const ThreadId& thread, Sequence up_to,
                                       Sequence down_to = 0);

// Whether one of the ranges contains the fact.
bool contains(const std::vector<Range>& ranges, Sequence sequence);

}  // namespace agentrt::conversation
