// kernel/history/removed_part.h: what follows the end of a turn in its thread, for the decision
// about a rollback to that turn; and which turns earlier rollbacks have removed.
//
// Blocks; on a worker. Costs what follows the turn.
#pragma once

#include <map>

#include "control/decide.h"
#include "conversation/history/lineage.h"
#include "ports/file_digests.h"
#include "store/store.h"

namespace agentrt::kernel {

// Facts of the conversation that are read to describe the effects of its end.
inline constexpr std::size_t kRemovedFactsMax = 1'000'000;

// `end`: the fact that ended the turn. `files`: null: what is in the files is unknown. Errors:
// those of the store; limit_exceeded: kRemovedFactsMax, or a limit of changed_files().
Result<control::RemovedPart> read_removed_part(store::Store& store, const SessionId& session,
                                               const control::Needs::Removal& removal,
                                               const TurnId& turn, Sequence end,
                                               ports::FileDigests* files);

// Tells whether rollbacks have removed turns of a session from the conversations of their threads.
class RemovedTurns {
 public:
  RemovedTurns(store::Store& store, SessionId session)
      : store_(store), session_(std::move(session)) {}

  // Asking for older turns of a thread first is cheapest.
  Result<bool> is_removed(const schema::TurnSnapshot& turn);

 private:
  struct Known {
    std::vector<conversation::Range> live;
    Sequence down_to = 0;
  };

  store::Store& store_;
  SessionId session_;
  std::map<ThreadId, Known> threads_;
};

}  // namespace agentrt::kernel
