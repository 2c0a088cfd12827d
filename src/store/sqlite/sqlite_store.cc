#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "store/sqlite/checkpointer.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/reader_pool.h"
#include "store/sqlite/witness.h"
#include "store/sqlite/writer.h"

namespace agentrt::store {
namespace {

constexpr int kPageBytes = 4'096;
constexpr std::size_t kFrameBytes = kPageBytes + 24;  // a page and its header in the log
// A log that grew larger is truncated to this size when it is restarted.
constexpr int kWalFileBytesMax = 16 << 20;

// Sets the options that belong to a connection.
Result<void> configure(Connection& connection, int cache_kib) {
  return connection.run(fmt::format("PRAGMA synchronous = FULL;"
                                    "PRAGMA temp_store = MEMORY;"
                                    "PRAGMA cell_size_check = ON;"
                                    "PRAGMA journal_size_limit = {};"
                                    "PRAGMA cache_size = -{};",
                                    kWalFileBytesMax, cache_kib)
                            .c_str());
}

Result<Connection> open_beside(const SqliteOptions& options, const char* more) {
  TRY_ASSIGN(Connection connection,
             Connection::open(options.path, options.vfs, options.limits.busy_wait_ms));
  TRY(configure(connection, options.limits.reader_cache_kib));
  TRY(connection.run(more));
  return connection;
}

// Sets the options that are stored in the file. The first two can be set only in an empty file.
Result<void> lay_out(Connection& connection, FileKind kind) {
  if (kind == FileKind::empty)
    TRY(connection.run(
        fmt::format("PRAGMA page_size = {}; PRAGMA auto_vacuum = INCREMENTAL;", kPageBytes)
            .c_str()));
  TRY_ASSIGN(const std::string mode, connection.ask_blob("PRAGMA journal_mode = WAL"));
  if (mode != "wal")
    return fail(Code::unavailable,
                "the file system of the data folder does not support the write-ahead log of the "
                "store; choose a folder on a local disk with --data");
  return {};
}

// An existing empty file was truncated if the witness recorded events for it.
Result<void> check_emptied(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) != 0 || error) return {};
  const auto head = Witness(path).head();
  if (!head || head->position == 0) return {};
  return fail(
      Code::unavailable,
      fmt::format("the store {0} is truncated: it is empty, but contained {1} events; restore it "
                  "from a backup, or remove {0} and {0}.head to start with an empty store",
                  path, head->position));
}

// The position and hash of the event at this position; nullopt: there is none.
Result<std::optional<Witness::Head>> stored_head(Connection& connection, Position position) {
  TRY_ASSIGN(Statement query, connection.prepare("SELECT hash FROM event WHERE position = ?1"));
  query.bind(1, static_cast<std::int64_t>(position));
  const int code = query.step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW)
    return std::unexpected(connection.error(code, "reading the newest event"));
  Witness::Head head{position, {}};
  const std::string_view hash = query.blob(0);
  if (hash.size() != head.hash.size()) return std::nullopt;
  std::copy(hash.begin(), hash.end(), head.hash.begin());
  return head;
}

// Whether the database is the file that was last written here.
Result<bool> is_known(Connection& connection, const Witness& witness) {
  TRY_ASSIGN(const std::string remembered,
             connection.ask_blob("SELECT value FROM meta WHERE name = 'anchor'"));
  const auto head = witness.head();
  if (remembered.empty() || witness.anchor() != remembered || !head) return false;
  if (head->position == 0) return true;
  TRY_ASSIGN(const auto found, stored_head(connection, head->position));
  return found == head;
}

// Starts a new generation unless the file is known. The anchor is written before the database
// refers to it; a crash in between only costs one more generation.
Result<void> settle_generation(Connection& connection, const SqliteOptions& options,
                               Identity& identity) {
  Witness witness(options.path);
  TRY_ASSIGN(const bool known, is_known(connection, witness));
  if (known) return {};
  TRY_ASSIGN(const std::int64_t last, connection.ask_number("SELECT max(position) FROM event"));
  TRY_ASSIGN(const auto newest, stored_head(connection, static_cast<Position>(last)));
  TRY_ASSIGN(const std::string anchor, witness.renew(newest.value_or(Witness::Head{})));
  TRY_ASSIGN(const std::int64_t anchored,
             connection.ask_number("SELECT count(*) FROM meta WHERE name = 'anchor'"));
  // A store created in this open() keeps the generation it was created with.
  if (last > 0 || anchored > 0) identity.generation = fresh_generation(options.now, options.random);
  return put_generation(connection, identity.generation, anchor);
}

Result<Identity> make_ready(Connection& connection, const SqliteOptions& options) {
  const std::span<const Migration> known =
      options.migrations.empty() ? migrations() : options.migrations;
  TRY_ASSIGN(const FileKind kind, inspect(connection, options.path, known));
  TRY(lay_out(connection, kind));
  TRY(configure(connection, options.limits.writer_cache_kib));
  Identity identity;
  if (kind == FileKind::empty) identity = fresh_identity(options.now, options.random);
  TRY(migrate(connection, known, identity));
  TRY_ASSIGN(identity, read_identity(connection));
  if (options.vfs.empty()) TRY(settle_generation(connection, options, identity));
  return identity;
}

}  // namespace

SqliteStore::SqliteStore(const SqliteOptions& options, std::unique_ptr<SyncGuard> guard)
    : limits_(options.limits), path_(options.path), guard_(std::move(guard)) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options) {
  // Folder checks and file modes apply only to the default VFS.
  if (options.vfs.empty()) {
    TRY(check_folder_of(options.path));
    TRY(check_emptied(options.path));
    TRY(create_private_file(options.path));
  }
  auto guard = std::make_unique<SyncGuard>(options.on_sync_failure);
  std::unique_ptr<SqliteStore> store(new SqliteStore(options, std::move(guard)));
  TRY(store->start(options));
  return store;
}

Result<void> SqliteStore::start(const SqliteOptions& options) {
  TRY_ASSIGN(Connection connection,
             Connection::open(options.path, options.vfs, options.limits.busy_wait_ms));
  auto identity = make_ready(connection, options);
  if (!identity) {
    if (connection.sync_failed()) guard_->fail(identity.error().message);
    return std::unexpected(std::move(identity).error());
  }
  identity_ = std::move(*identity);
  if (options.vfs.empty()) {
    if (auto synced = sync_folder_of(options.path); !synced) {
      guard_->fail(synced.error().message);
      return synced;
    }
  }
  TRY_ASSIGN(Connection checkpoints, open_beside(options, "SELECT count(*) FROM meta"));
  checkpointer_ = std::make_unique<Checkpointer>(std::move(checkpoints), *guard_);
  TRY_ASSIGN(writer_, Writer::open(std::move(connection), *guard_, limits_.heads_max,
                                   [this] { return checkpointer_->empty_log(); }));
  readers_ = std::make_unique<ReaderPool>(
      [options] { return open_beside(options, "PRAGMA query_only = ON"); }, limits_.readers_max,
      std::chrono::milliseconds(limits_.reader_wait_ms));
  return remember_files(options);
}

Result<void> SqliteStore::remember_files(const SqliteOptions& options) {
  if (!options.vfs.empty()) return {};
  witness_ = std::make_unique<Witness>(path_);
  TRY(witness_->start());
  database_id_ = file_id(path_);
  log_id_ = file_id(path_ + "-wal");
  return {};
}

SqliteStore::~SqliteStore() {
  readers_.reset();
  writer_.reset();
  if (checkpointer_) (void)checkpointer_->empty_log();
}

Result<void> SqliteStore::check_files() const {
  const auto gone = [&](const std::string& path) {
    return fail(
        Code::unavailable,
        fmt::format(
            "the store file {} was deleted, moved or replaced while agentrt was running, so "
            "nothing more can be stored; put it back or restore a backup, then start agentrt again",
            path));
  };
  if (database_id_ && file_id(path_) != database_id_) return gone(path_);
  if (log_id_ && file_id(path_ + "-wal") != log_id_) return gone(path_ + "-wal");
  return {};
}

std::uint64_t SqliteStore::wal_bytes() const {
  const int pages = writer_->wal_pages().load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(pages) * kFrameBytes;
}

Result<void> SqliteStore::move_log() {
  int pages = writer_->wal_pages().load(std::memory_order_relaxed);
  TRY_ASSIGN(const Checkpointer::Moved moved, checkpointer_->move_pages());
  // No commit happened meanwhile, so the next commit restarts the log.
  const bool whole = moved.all() && writer_->wal_pages().compare_exchange_strong(
                                        pages, 0, std::memory_order_relaxed);
  moved_pages_ = whole ? 0 : moved.moved;
  return {};
}

Result<void> SqliteStore::checkpoint() {
  if (!checkpoint_due()) return {};
  return move_log();
}

bool SqliteStore::only_a_rest_is_left() const {
  const int moved = moved_pages_.load(std::memory_order_relaxed);
  const int pages = writer_->wal_pages().load(std::memory_order_relaxed);
  return moved > 0 && pages - moved <= limits_.rest_pages_max;
}

std::vector<Result<Position>> SqliteStore::commit(std::span<const Append> appends) {
  // A checkpoint concurrent with commits never reaches the last few pages, and an ever growing log
  // makes syncs slower. No commit runs here, so the remainder can be moved and the log restarted. A
  // failure is ignored; it must not refuse the appends.
  if (wal_bytes() >= limits_.wal_bytes_max || only_a_rest_is_left()) (void)move_log();
  auto results = writer_->commit(appends);
  if (const auto there = check_files(); !there) {
    for (Result<Position>& result : results)
      if (result) result = std::unexpected(there.error());
  } else if (witness_ && writer_->newest().position > 0) {
    witness_->note(writer_->newest());
  }
  return results;
}

Result<std::vector<Event>> SqliteStore::events(const SessionId& session, Sequence after,
                                               std::size_t events_max, std::size_t bytes_max) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->events(session, after, events_max, bytes_max);
}

Result<std::vector<Event>> SqliteStore::events_at(const SessionId& session,
                                                  std::span<const Sequence> sequences) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->events_at(session, sequences);
}

Result<std::vector<Sequence>> SqliteStore::sent(const SessionId& session, const ThreadId& thread,
                                                Sequence after, Sequence up_to, std::size_t max) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->sent(session, thread, after, up_to, max);
}

Result<std::vector<Event>> SqliteStore::all_events(Position after, std::size_t events_max,
                                                   std::size_t bytes_max) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->all_events(after, events_max, bytes_max);
}

Result<Sequence> SqliteStore::head(const SessionId& session) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->head(session);
}

Result<Position> SqliteStore::last_position() {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->last_position();
}

Result<std::optional<Snapshot>> SqliteStore::snapshot(const SessionId& session) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->snapshot(session);
}

Result<std::optional<IndexEntry>> SqliteStore::find(const std::string& kind,
                                                    const std::string& id) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->find(kind, id);
}

Result<std::vector<IndexEntry>> SqliteStore::list(const IndexQuery& query) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->list(query);
}

Result<std::uint64_t> SqliteStore::count(const IndexQuery& query) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->count(query);
}

Result<std::vector<Store::OldSnapshot>> SqliteStore::old_snapshots(std::uint64_t fold_version,
                                                                   std::uint64_t after,
                                                                   std::size_t limit) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->old_snapshots(fold_version, after, limit);
}

Result<std::vector<IndexEntry>> SqliteStore::due(std::size_t limit) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->due(limit);
}

Result<std::vector<SessionId>> SqliteStore::open_sessions() {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->open_sessions();
}

Result<std::optional<IdempotencyRecord>> SqliteStore::idempotency(const std::string& principal,
                                                                  const std::string& key) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->idempotency(principal, key);
}

Result<std::vector<schema::ChannelCursor>> SqliteStore::cursors(
    std::span<const ChannelId> channels) {
  TRY_ASSIGN(auto reader, readers_->take());
  return reader->cursors(channels);
}

Result<std::size_t> SqliteStore::forget_idempotency(Timestamp before, std::size_t max) {
  return writer_->forget_idempotency(before, max);
}

Result<void> SqliteStore::rebuild(const SessionId& session, const Indexer& indexer) {
  return writer_->rebuild(session, indexer);
}

Result<bool> SqliteStore::pack(std::size_t rows_max) { return writer_->pack(rows_max); }

// Syncing a file that has grown also writes its new size, which takes two to three times as long.
// So the log file is extended in advance.
void SqliteStore::make_room() { writer_->make_room(wal_bytes(), kWalFileBytesMax); }

}  // namespace agentrt::store
