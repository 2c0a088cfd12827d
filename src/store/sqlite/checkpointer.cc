#include "store/sqlite/checkpointer.h"

namespace agentrt::store {

Result<Checkpointer::Moved> Checkpointer::move_pages() {
  const std::lock_guard lock(mutex_);
  if (guard_.stopped()) return std::unexpected(SyncGuard::error());
  int pages = 0;
  int moved = 0;
  const int code = sqlite3_wal_checkpoint_v2(connection_.handle(), "main",
                                             SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);
  if (code == SQLITE_OK) return Moved{pages, moved};
  if (code == SQLITE_BUSY) return Moved{1, 0};
  Error error = connection_.error(code, "checkpointing");
  if (connection_.fault(code) == Fault::sync) {
    guard_.fail(error.message);
    return std::unexpected(SyncGuard::error());
  }
  return std::unexpected(std::move(error));
}

bool Checkpointer::empty_log() {
  const std::lock_guard lock(mutex_);
  if (guard_.stopped()) return false;
  const int code = sqlite3_wal_checkpoint_v2(connection_.handle(), "main",
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) {
    const Error error = connection_.error(code, "emptying the write-ahead log");
    if (connection_.fault(code) == Fault::sync) guard_.fail(error.message);
    return false;
  }
  // SQLite does not sync the truncation. Without a sync, a power cut could restore the old frames.
  sqlite3_file* log = connection_.log_file();
  if (log == nullptr) return false;
  if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) != SQLITE_OK) {
    guard_.fail("the emptied write-ahead log could not be synced");
    return false;
  }
  return true;
}

}  // namespace agentrt::store
