// store/sqlite/writer.h: the only connection that writes.
//
// commit() uses one transaction and one sync for all its appends. If an append must be refused
// after some of its rows were written (its key or id is taken, or the store is damaged there), the
// transaction is repeated without it. That is rare, and it avoids savepoints in the common case.
// Rows of one kind use one prepared statement and are bound without copying.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/sqlite/database.h"
#include "store/sqlite/heads.h"
#include "store/sqlite/pack.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/sync_guard.h"
#include "store/sqlite/witness.h"
#include "store/store.h"

namespace agentrt::store {

// Preallocation of the log file. kLogRoomMin is more than a commit of a few dozen facts needs. The
// file grows by its own size, but at least kLogStepMin and at most kLogStepMax.
inline constexpr std::uint64_t kLogRoomMin = 48 << 10;
inline constexpr std::uint64_t kLogStepMin = 128 << 10, kLogStepMax = 1 << 20;

class Writer {
 public:
  // REQUIRES: the file has the current tables; `guard` outlives the writer. `settle` is called if a
  // commit failed after its last frame may have reached the disk. It removes that frame and returns
  // whether it is certainly gone.
  static Result<std::unique_ptr<Writer>> open(Connection connection, SyncGuard& guard,
                                              std::size_t heads_max, std::function<bool()> settle);

  std::vector<Result<Position>> commit(std::span<const Append> appends);
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max);
  Result<void> rebuild(const SessionId& session, const Indexer& indexer);
  Result<bool> pack(std::size_t rows_max);
  // Appends zeros to the log file if less than kLogRoomMin is free after the `used` bytes, up to a
  // file size of `bytes_max`. SQLite treats the zeros as the end of the log.
  void make_room(std::uint64_t used, std::uint64_t bytes_max);

  // The newest event that this writer has committed; position 0: none yet.
  const Witness::Head& newest() const { return newest_; }

  // Pages in the write-ahead log after the last commit. Any thread may read it. A checkpoint that
  // moved all pages sets it to 0.
  std::atomic<int>& wal_pages() { return wal_pages_; }

 private:
  enum class Step { done, untouched, refused, failed };
  // The outcome of writing one append or row. `error` is set unless `step` is done.
  struct Outcome {
    Step step = Step::done;
    Error error;
  };
  enum class Attempt { finished, again };

  Writer(Connection connection, SyncGuard& guard, std::size_t heads_max,
         std::function<bool()> settle);
  Result<void> prepare();
  Result<void> prepare_cursors();

  Attempt attempt(std::span<const Append> appends, std::vector<Result<Position>>& results,
                  std::vector<Step>& steps);
  Outcome write(const Append& append);
  Outcome find_head(const Append& append, Head*& head);
  Outcome load_head(const SessionId& session, Head& head);
  Outcome write_events(const Append& append, Head& head);
  Outcome write_sent(std::int64_t session, const schema::StoredEvent& event);
  // `changed_at`: the position of the fact `row.changed`.
  Outcome write_row(std::int64_t session, const IndexRow& row, Position changed_at);
  // Adds the row to the lists of its terms and removes it from those of its predecessor.
  Outcome write_terms(std::int64_t session, const IndexRow& row, const std::string& terms);
  Outcome change_term(Statement& statement, std::int64_t session, const IndexRow& row,
                      Sequence first, std::string_view term);
  Outcome write_record(const IdempotencyRecord& record);
  Outcome write_snapshot(std::int64_t session, const Snapshot& snapshot);
  Outcome write_cursors(std::int64_t session, const Append& append);
  Outcome write_acknowledgements(const Append& append);
  Outcome runtime_key(const RuntimeId& runtime, std::int64_t& key);
  Result<void> derive_rows(const SessionId& session, std::int64_t key, const Indexer& indexer);
  Result<void> drop_rows(std::int64_t session);

  // A row scanned by pack().
  struct Seen {
    Position position = 0;
    std::int64_t session = 0;
    std::int64_t sequence = 0;
    bool fragment = false;
  };
  Result<bool> pack_some(std::size_t rows_max);
  Result<std::vector<Seen>> look_through(std::size_t rows_max);
  Result<bool> pack_run_before(const Seen& row, std::size_t rows_max);
  Result<void> put_run(std::int64_t session, std::int64_t first, std::int64_t last,
                       const std::vector<PackedRow>& rows);
  Result<void> store_progress();
  void lengthen(sqlite3_file& log, std::uint64_t by);

  Outcome outcome_of(int code, std::string_view doing);
  Result<void> begin();
  Result<void> end();
  void roll_back();
  Error give_up(int code, std::string_view doing);

  Connection connection_;
  SyncGuard& guard_;
  std::function<bool()> settle_;
  Reader reader_;

  Statement begin_, commit_, rollback_;
  Statement put_event_, put_sent_, drop_sent_, put_row_, put_record_, put_snapshot_;
  Statement get_terms_, put_term_, drop_term_, drop_terms_;
  Statement put_session_, get_session_, get_head_, put_runtime_, get_runtime_;
  Statement forget_, next_kind_, drop_kind_, drop_snapshot_;
  Statement put_cursor_, drop_cursor_, acknowledge_;
  Statement get_progress_, put_progress_, look_, run_before_, put_pack_, thin_;

  Heads heads_;
  std::size_t heads_max_;
  std::vector<const SessionId*> touched_;       // sessions whose heads this transaction changed
  std::map<RuntimeId, std::int64_t> runtimes_;  // cached row ids
  Position last_position_ = 0;                  // committed
  Position next_position_ = 1;                  // of the next event in this transaction
  Digest next_hash_{};                          // of the last event in this transaction
  Witness::Head newest_;
  // Scan position of pack(); nullopt: read it from the store.
  std::optional<Position> looked_through_;
  std::size_t packed_rows_ = 0;  // by the current pack()
  bool stale_ = false;           // another program wrote: reload the cached values
  std::atomic<int> wal_pages_{0};
};

}  // namespace agentrt::store
