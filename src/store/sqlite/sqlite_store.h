// store/sqlite/sqlite_store.h: the store in one SQLite file. docs/log_format.md describes its rows.
//
// The file is in WAL mode with synchronous=FULL: commit() returns after the sync that covers it.
// One connection writes, a few read and one checkpoints; none waits for another. If the disk is
// full, appends fail with storage_full, reads keep working, and a later commit succeeds once there
// is room. A failed sync, for whatever reason, calls on_sync_failure, and the store accepts nothing
// more.
//
// Threads: as in store/store.h. checkpoint() may be called from any thread at any time. The caller
// of commit() must see to it that checkpoint() runs regularly on another thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "store/identity.h"
#include "store/sqlite/file_system.h"
#include "store/store.h"

namespace agentrt::store {

class Checkpointer;
class ReaderPool;
class SyncGuard;
class Witness;
class Writer;
struct Migration;

struct SqliteLimits {
  std::size_t readers_max = 4;
  std::int64_t reader_wait_ms = 5'000;  // for a free reader, then `overloaded`
  int busy_wait_ms = 2'000;             // for another program's lock, then `unavailable`
  std::size_t heads_max = 10'000;       // cached sessions, whose appends need no read
  int writer_cache_kib = 4'096;
  int reader_cache_kib = 1'024;
  std::uint64_t checkpoint_wal_bytes = 4 << 20;  // checkpoint() does nothing below this size
  std::uint64_t wal_bytes_max = 64 << 20;        // at this size commit() checkpoints first
  int rest_pages_max = 256;  // commit() moves a checkpoint's remainder of at most this size
};

struct SqliteOptions {
  std::string path;
  std::string vfs;                // the name of a registered sqlite3_vfs; empty: the default
  OnSyncFailure on_sync_failure;  // empty: abort the process
  // Time and randomness for the ids and the key of a new store or generation.
  Timestamp now;
  RandomBytes random;
  SqliteLimits limits;
  std::span<const Migration> migrations;  // empty: the built-in ones
};

class SqliteStore final : public Store {
 public:
  // Opens or creates the file. Errors: unavailable, with advice: the folder is on a network file
  // system; the file is not a store, is truncated, damaged or of a newer version (it is left
  // unchanged); a lock or an I/O error. If the file cannot be proven to be the one last written
  // here (witness.h), a new generation starts.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options);
  // Empties the write-ahead log if no other reader prevents it.
  ~SqliteStore() override;

  // Checks that database and log are still the files that were opened. Errors: unavailable, with
  // advice: they were deleted, moved or replaced, so later writes would be lost with this process.
  // commit() then fails too. Any thread.
  Result<void> check_files() const;

  // Moves the write-ahead log into the database file if it exceeds checkpoint_wal_bytes; otherwise
  // cheap.
  Result<void> checkpoint();
  bool checkpoint_due() const { return wal_bytes() >= limits_.checkpoint_wal_bytes; }
  // The size of the write-ahead log that may not be in the database file yet.
  std::uint64_t wal_bytes() const;

  std::vector<Result<Position>> commit(std::span<const Append> appends) override;
  Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                    std::size_t events_max, std::size_t bytes_max) override;
  Result<std::vector<Event>> events_at(const SessionId& session,
                                       std::span<const Sequence> sequences) override;
  Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                     Sequence after, Sequence up_to, std::size_t max) override;
  Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                        std::size_t bytes_max) override;
  Result<Sequence> head(const SessionId& session) override;
  Result<Position> last_position() override;
  Result<std::optional<Snapshot>> snapshot(const SessionId& session) override;
  Result<std::optional<IndexEntry>> find(const std::string& kind, const std::string& id) override;
  Result<std::vector<OldSnapshot>> old_snapshots(std::uint64_t fold_version, std::uint64_t after,
                                                 std::size_t limit) override;
  Result<std::vector<IndexEntry>> list(const IndexQuery& query) override;
  Result<std::uint64_t> count(const IndexQuery& query) override;
  Result<std::vector<IndexEntry>> due(std::size_t limit) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                       const std::string& key) override;
  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels) override;
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) override;
  Result<void> rebuild(const SessionId& session, const Indexer& indexer) override;
  Result<bool> pack(std::size_t rows_max) override;
  void make_room() override;

  const RuntimeId& runtime() const override { return identity_.runtime; }
  const GenerationId& generation() const override { return identity_.generation; }
  const std::string& hash_key() const override { return identity_.hash_key; }

 private:
  SqliteStore(const SqliteOptions& options, std::unique_ptr<SyncGuard> guard);
  Result<void> start(const SqliteOptions& options);
  Result<void> remember_files(const SqliteOptions& options);
  Result<void> move_log();
  bool only_a_rest_is_left() const;

  SqliteLimits limits_;
  Identity identity_;
  std::atomic<int> moved_pages_{0};  // of the current log, by the last checkpoint
  std::string path_;
  std::optional<FileId> database_id_, log_id_;  // absent with another VFS, which has its own files
  std::unique_ptr<Witness> witness_;            // null with another VFS
  std::unique_ptr<SyncGuard> guard_;            // the members below refer to it
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<ReaderPool> readers_;
};

}  // namespace agentrt::store
