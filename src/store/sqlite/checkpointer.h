// store/sqlite/checkpointer.h: moves what the write-ahead log holds into the database file.
//
// It has a connection of its own, so a checkpoint runs beside commits and reads. A sync that fails
// in it is a failed sync like any other. Any thread; one checkpoint at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "store/sqlite/database.h"
#include "store/sqlite/sync_guard.h"

namespace agentrt::store {

class Checkpointer {
 public:
  // REQUIRES: `guard` outlives the checkpointer.
  Checkpointer(Connection connection, SyncGuard& guard)
      : connection_(std::move(connection)), guard_(guard) {}

  struct Moved {
    int pages = 0;  // of the log, when it was done
    int moved = 0;  // of them, those that are in the database file now
    bool all() const { return moved == pages; }
  };

  // Moves as much as no reader still needs, waiting for nobody; where something was in the way, a
  // later call goes on.
  Result<Moved> move_pages();
  // Moves everything and empties the log file for good. False when a reader or the disk is in the
  // way.
  bool empty_log();

 private:
  std::mutex mutex_;
  Connection connection_;
  SyncGuard& guard_;
};

}  // namespace agentrt::store
