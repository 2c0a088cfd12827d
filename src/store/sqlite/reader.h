// store/sqlite/reader.h: every read of the store, over one connection.
//
// Each statement is reset before the call returns, so a reader never holds the write-ahead log back
// for longer than a page. Rows of `session`, `runtime` and `event` never change once written (a
// payload may be erased), so a call of several statements needs no transaction around them; those
// that are made for every turn have one all the same, since each transaction begins with locks and,
// after any commit, without the pages that were read before.
//
// Threads: one at a time; ReaderPool hands them out.
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
  Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                        std::size_t bytes_max);
  Result<Sequence> head(const SessionId& session);
  Result<Position> last_position();
  Result<std::optional<Snapshot>> snapshot(const SessionId& session);
  Result<std::optional<IndexEntry>> find(const std::string& kind, const std::string& id);
  Result<std::vector<IndexEntry>> list(const IndexQuery& query);
  Result<std::vector<SessionId>> open_sessions();
  Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                       const std::string& key);

  // The session's row; absent when there is none.
  Result<std::optional<std::int64_t>> key_of(const SessionId& session);

 private:
  // The order of kSql in reader.cc.
  enum class Query {
    session_key,
    session_id,
    runtime_id,
    events,
    all_events,
    row_hash,
    head,
    last_position,
    snapshot,
    find,
    list_all,
    list_open,
    list_session,
    list_parent,
    open_session,
    idempotency,
    pack,
    begin,
    end,
    count_,
  };

  // One transaction for as long as it lives, unless the connection is in one already.
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

  // Where an all-sessions page stands in one session.
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
  // What a pack has of the row; null where none has it.
  Result<const PackedRow*> unpacked(std::int64_t session, Sequence sequence);
  Result<Statement*> bind_list(const IndexQuery& query, std::int64_t session);

  Connection& connection_;
  std::array<Statement, static_cast<std::size_t>(Query::count_)> statements_;
  std::map<std::int64_t, RuntimeId> runtimes_;  // read before; at most kRuntimesMax
  struct Unpacked {
    std::int64_t session = 0;
    Sequence first = 0;
    std::vector<PackedRow> rows;
  };
  std::vector<Unpacked> unpacked_;  // that this page met; at most kUnpackedMax
};

}  // namespace agentrt::store
