// store/sqlite/sqlite_store.h: the store in one SQLite file; docs/log_format.md describes its rows.
//
// The file is in WAL mode with synchronous=FULL: commit() returns after the sync that covers it.
// One connection writes, a few read, one checkpoints; none waits for another. The disk may fill up:
// appends are then storage_full, reads go on, and a later commit succeeds when there is room. A
// sync that fails, whatever the reason and wherever, calls on_sync_failure and the store takes
// nothing more.
//
// Threads: as store/store.h asks. checkpoint() may be called from any thread beside everything
// else; whoever calls commit() arranges for it to run now and then off that thread.
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
  std::int64_t reader_wait_ms = 5'000;  // for one of them, then `overloaded`
  int busy_wait_ms = 2'000;             // for another program's lock, then `unavailable`
  std::size_t heads_max = 10'000;       // sessions whose append needs no read
  int writer_cache_kib = 4'096;
  int reader_cache_kib = 1'024;
  std::uint64_t checkpoint_wal_bytes = 4 << 20;  // from this size on checkpoint() does something
  std::uint64_t wal_bytes_max = 64 << 20;        // from this size on commit() checkpoints itself
  int rest_pages_max = 256;  // so few that a checkpoint left over, commit() moves itself
};

struct SqliteOptions {
  std::string path;
  std::string vfs;                // the name of a registered sqlite3_vfs; empty: the system's own
  OnSyncFailure on_sync_failure;  // empty: the process stops
  // For a new store or a new generation: when, and the randomness for ids and the key.
  Timestamp now;
  RandomBytes random;
  SqliteLimits limits;
  std::span<const Migration> migrations;  // empty: those of this build
};

class SqliteStore final : public Store {
 public:
  // Opens the file, or makes it. unavailable, with what to do: a network file system, a file that
  // is not a store, was cut short, is damaged or has a newer version (it is left as it is), a lock,
  // an I/O error. A file that is not known to be the one last written here starts a new generation.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options);
  // Empties the write-ahead log if nothing is in the way.
  ~SqliteStore() override;

  // Whether the database and its log are still where they were opened; unavailable, with what to
  // do: they were deleted, moved or replaced, so that what is written now is lost with this
  // process. commit() refuses what it was given then. Any thread.
  Result<void> check_files() const;

  // Moves the write-ahead log into the database file when it has grown past checkpoint_wal_bytes;
  // cheap otherwise.
  Result<void> checkpoint();
  bool checkpoint_due() const { return wal_bytes() >= limits_.checkpoint_wal_bytes; }
  // What of the write-ahead log is in use and not known to be in the database file.
  std::uint64_t wal_bytes() const;

  std::vector<Result<Position>> commit(std::span<const Append> appends) override;
  Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                    std::size_t events_max, std::size_t bytes_max) override;
  Result<std::vector<Event>> events_at(const SessionId& session,
                                       std::span<const Sequence> sequences) override;
  Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                        std::size_t bytes_max) override;
  Result<Sequence> head(const SessionId& session) override;
  Result<Position> last_position() override;
  Result<std::optional<Snapshot>> snapshot(const SessionId& session) override;
  Result<std::optional<IndexEntry>> find(const std::string& kind, const std::string& id) override;
  Result<std::vector<IndexEntry>> list(const IndexQuery& query) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                       const std::string& key) override;
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
  std::atomic<int> moved_pages_{0};  // by the last checkpoint, of the log as it is now
  std::string path_;
  std::optional<FileId> database_id_, log_id_;  // absent: another VFS has its own files
  std::unique_ptr<Witness> witness_;            // null in the same case
  std::unique_ptr<SyncGuard> guard_;            // the members below refer to it
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<ReaderPool> readers_;
};

}  // namespace agentrt::store
