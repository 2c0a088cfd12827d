// store/sqlite/checkpointer.h: moves pages from the write-ahead log into the database file.
//
// It has its own connection, so a checkpoint runs concurrently with commits and reads. A failed
// sync during a checkpoint is handled like any failed sync. Callable from any thread; one
// checkpoint at a time.
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
    int pages = 0;  // in the log at the end of the checkpoint
    int moved = 0;  // pages that are now in the database file
    bool all() const { return moved == pages; }
  };

  // Moves the pages that no reader still needs, without blocking. A later call moves the rest.
  Result<Moved> move_pages();
  // Moves all pages and durably truncates the log file. False if a reader or the disk prevents it.
  bool empty_log();

 private:
  std::mutex mutex_;
  Connection connection_;
  SyncGuard& guard_;
};

}  // namespace agentrt::store
