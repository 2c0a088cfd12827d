// store/sqlite/reader.h: all reads of the store, over one connection.
//
// Each statement is reset before the call returns, so a reader delays checkpoints of the
// write-ahead log by at most one page read. Rows of `session`, `runtime` and `event` never change
// (only a payload may be erased), so several statements need no common transaction for consistency.
// Calls made in every turn use one for speed: each transaction takes locks and, after another
// commit, drops cached pages.
//
// Threads: one at a time; ReaderPool hands out readers.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/sqlite/database.h"
#include "store/sqlite/event_rows.h"
#include "store/store.h"

namespace agentrt::store {

class Reader {
 public:
  // REQUIRES: the connection outlives the reader.
  explicit Reader(Connection& connection) : connection_(connection) {}

  Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                    std::size_t events_max, std::size_t bytes_max);
  Result<std::vector<Event>> events_at(const SessionId& session,
                                       std::span<const Sequence> sequences);
  Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                     Sequence after, Sequence up_to, std::size_t max);
  Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                        std::size_t bytes_max);
  Result<Sequence> head(const SessionId& session);
  Result<Position> last_position();
  Result<std::optional<Snapshot>> snapshot(const SessionId& session);
  Result<std::optional<IndexEntry>> find(const std::string& kind, const std::string& id);
  Result<std::vector<Store::OldSnapshot>> old_snapshots(std::uint64_t fold_version,
                                                        std::uint64_t after, std::size_t limit);
  Result<std::vector<IndexEntry>> list(const IndexQuery& query);
  Result<std::uint64_t> count(const IndexQuery& query);
  Result<std::vector<IndexEntry>> due(std::size_t limit);
  Result<std::vector<SessionId>> open_sessions();
  Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                       const std::string& key);

  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels);

  // The session's row id; nullopt: no such session.
  Result<std::optional<std::int64_t>> key_of(const SessionId& session);

 private:
  // In the order of kSql in reader.cc.
  enum class Query {
    session_key,
    session_id,
    runtime_id,
    events,
    sent,
    all_events,
    row_hash,
    head,
    last_position,
    snapshot,
    old_snapshots,
    find,
    list_all,
    list_open,
    list_session,
    list_parent,
    list_term,
    list_session_term,
    list_term_oldest,
    list_changed,
    count_session,
    count_parent,
    count_term,
    due,
    open_session,
    idempotency,
    cursor,
    pack,
    begin,
    end,
    count_,
  };

  // Opens a transaction for its lifetime, unless the connection is already in one.
  class Together {
   public:
    explicit Together(Reader& reader)
        : reader_(reader), own_(!reader.connection_.in_transaction()) {
      if (own_) reader_.run(Query::begin);
    }
    ~Together() {
      if (own_) reader_.run(Query::end);
    }
    Together(const Together&) = delete;

   private:
    Reader& reader_;
    const bool own_;
  };

  // The last row of one session that an all-sessions page has read.
  struct Place {
    SessionId id;
    Sequence sequence = 0;
    Digest hash{};
  };

  Result<Statement*> statement(Query query);
  void run(Query query);
  Result<std::vector<Event>> page_of(std::int64_t key, const SessionId& session, Sequence after,
                                     std::size_t events_max, std::size_t bytes_max);
  std::unexpected<Error> failed(int code, std::string_view doing);
  std::unexpected<Error> failed_at(int code, const SessionId& session, Sequence sequence);
  Result<const RuntimeId*> runtime(std::int64_t key);
  Result<SessionId> session_of(std::int64_t key);
  Result<std::optional<Digest>> row_hash(std::int64_t session, Sequence sequence);
  Result<Place> place_before(const EventRow& row);
  Result<Event> read_next(const EventRow& row, Place& place);
  Result<Event> read_anyhow(const EventRow& row, std::map<std::int64_t, Place>& places);
  // The row's content from its pack; null: no pack has it.
  Result<const PackedRow*> unpacked(std::int64_t session, Sequence sequence);
  Result<Statement*> bind_list(const IndexQuery& query, std::int64_t session);

  Connection& connection_;
  std::array<Statement, static_cast<std::size_t>(Query::count_)> statements_;
  std::map<std::int64_t, RuntimeId> runtimes_;  // cache; at most kRuntimesMax
  struct Unpacked {
    std::int64_t session = 0;
    Sequence first = 0;
    std::vector<PackedRow> rows;
  };
  std::vector<Unpacked> unpacked_;  // packs used by this page; at most kUnpackedMax
};

}  // namespace agentrt::store
