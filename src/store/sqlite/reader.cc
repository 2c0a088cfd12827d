#include "store/sqlite/reader.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace agentrt::store {
namespace {

// Number of cached runtime ids. A store has one, or a few after moves between machines.
constexpr std::size_t kRuntimesMax = 64;
// Packs cached per page, for sessions that streamed concurrently.
constexpr std::size_t kUnpackedMax = 8;

constexpr std::string_view kSql[] = {
    "SELECT key FROM session WHERE id = ?1",
    "SELECT id FROM session WHERE key = ?1",
    "SELECT id FROM runtime WHERE key = ?1",
    // Includes the row `after`, whose hash is needed to check the first row of the page.
    "SELECT position, session, sequence, at, type, version, runtime, scope, hash, payload_sha256, "
    "payload FROM event WHERE session = ?1 AND sequence >= ?2 ORDER BY sequence LIMIT ?3",
    "SELECT sequence FROM sent WHERE session = ?1 AND thread = ?2 AND sequence > ?3 "
    "AND sequence <= ?4 ORDER BY sequence LIMIT ?5",
    "SELECT position, session, sequence, at, type, version, runtime, scope, hash, payload_sha256, "
    "payload FROM event WHERE position > ?1 ORDER BY position LIMIT ?2",
    "SELECT hash FROM event WHERE session = ?1 AND sequence = ?2",
    "SELECT max(sequence) FROM event WHERE session = ?1",
    "SELECT max(position) FROM event",
    "SELECT sequence, fold_version, sha256, bytes FROM snapshot WHERE session = ?1",
    "SELECT n.session, s.id FROM snapshot n CROSS JOIN session s ON s.key = n.session "
    "WHERE n.session > ?1 AND n.fold_version <> ?2 ORDER BY n.session LIMIT ?3",
    "SELECT s.id, o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at "
    "FROM object o JOIN session s ON s.key = o.session WHERE o.kind = ?1 AND o.id = ?2",
    "SELECT s.id, o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at "
    "FROM object o CROSS JOIN session s ON s.key = o.session "
    "WHERE o.kind = ?1 AND (o.session, o.first, o.id) < (?2, ?3, ?4) "
    "ORDER BY o.session DESC, o.first DESC, o.id DESC LIMIT ?5",
    "SELECT s.id, o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at "
    "FROM object o INDEXED BY object_open CROSS JOIN session s ON s.key = o.session "
    "WHERE o.open = 1 AND o.kind = ?1 AND (o.session, o.first, o.id) < (?2, ?3, ?4) "
    "ORDER BY o.session DESC, o.first DESC, o.id DESC LIMIT ?5",
    "SELECT '', o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at "
    "FROM object o WHERE o.kind = ?1 AND o.session = ?2 AND (o.first, o.id) < (?3, ?4) "
    "ORDER BY o.first DESC, o.id DESC LIMIT ?5",
    "SELECT '', o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at "
    "FROM object o WHERE o.kind = ?1 AND o.session = ?2 AND o.parent = ?6 AND o.parent <> '' "
    "AND (o.first, o.id) < (?3, ?4) ORDER BY o.first DESC, o.id DESC LIMIT ?5",
    "SELECT s.id, o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at FROM term t CROSS JOIN object o ON o.kind = t.kind AND o.id = "
    "t.id "
    "CROSS JOIN session s ON s.key = t.session WHERE t.kind = ?1 AND t.term = ?6 "
    "AND (t.session, t.first, t.id) < (?2, ?3, ?4) "
    "ORDER BY t.session DESC, t.first DESC, t.id DESC LIMIT ?5",
    "SELECT '', o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at FROM term t CROSS JOIN object o ON o.kind = t.kind AND o.id = "
    "t.id "
    "WHERE t.kind = ?1 AND t.term = ?6 AND t.session = ?2 AND (t.first, t.id) < (?3, ?4) "
    "ORDER BY t.first DESC, t.id DESC LIMIT ?5",
    "SELECT '', o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at FROM term t CROSS JOIN object o ON o.kind = t.kind AND o.id = "
    "t.id "
    "WHERE t.kind = ?1 AND t.term = ?6 AND t.session = ?2 AND (t.first, t.id) < (?3, ?4) "
    "ORDER BY t.first, t.id LIMIT ?5",
    "SELECT s.id, o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at "
    "FROM object o INDEXED BY object_by_change CROSS JOIN session s ON s.key = o.session "
    "WHERE o.kind = ?1 AND o.changed_at IS NOT NULL AND o.changed_at < ?2 "
    "ORDER BY o.changed_at DESC LIMIT ?5",
    "SELECT count(*) FROM object WHERE kind = ?1 AND session = ?2",
    "SELECT count(*) FROM object WHERE kind = ?1 AND session = ?2 AND parent = ?3 AND parent <> ''",
    "SELECT count(*) FROM term WHERE kind = ?1 AND session = ?2 AND term = ?3",
    "SELECT s.id, o.session, o.kind, o.id, o.parent, o.first, o.status, o.open, o.record, o.terms, "
    "o.due, o.changed, o.changed_at FROM object o INDEXED BY object_due CROSS JOIN session s ON "
    "s.key = o.session "
    "WHERE o.due IS NOT NULL ORDER BY o.due, o.kind, o.id LIMIT ?1",
    "SELECT o.session, s.id FROM object o CROSS JOIN session s ON s.key = o.session "
    "WHERE o.open = 1 AND o.session > ?1 ORDER BY o.session LIMIT 1",
    "SELECT command, params_hash, reply, at FROM idempotency WHERE principal = ?1 AND key = ?2",
    "SELECT s.id, c.token, c.generation, c.acknowledged, c.resume_hash, c.resume_hash_used, "
    "c.seen_at FROM channel c CROSS JOIN session s ON s.key = c.session WHERE c.id = ?1",
    "SELECT first, bytes FROM pack WHERE session = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1",
    "BEGIN",
    "COMMIT",
};

// SQLite's integers are signed; a larger number means "all".
std::int64_t clamp(std::uint64_t number) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, kMax));
}

IndexEntry read_entry(const Statement& row) {
  IndexEntry entry;
  entry.session = SessionId{std::string(row.text(0))};
  entry.session_order = static_cast<std::uint64_t>(row.integer(1));
  entry.row.kind = row.text(2);
  entry.row.id = row.text(3);
  entry.row.parent = row.text(4);
  entry.row.first = static_cast<Sequence>(row.integer(5));
  entry.row.status = row.text(6);
  entry.row.open = row.integer(7) != 0;
  entry.row.record = row.text(8);
  for (std::string_view terms = row.text(9); !terms.empty();) {
    const std::size_t end = terms.find('\n');
    entry.row.terms.emplace_back(terms.substr(0, end));
    terms.remove_prefix(end == std::string_view::npos ? terms.size() : end + 1);
  }
  if (!row.is_null(10)) entry.row.due = Timestamp{row.integer(10)};
  if (!row.is_null(11)) entry.row.changed = static_cast<Sequence>(row.integer(11));
  if (!row.is_null(12)) entry.changed_at = static_cast<Position>(row.integer(12));
  return entry;
}

}  // namespace

Result<Statement*> Reader::statement(Query query) {
  static_assert(std::size(kSql) == static_cast<std::size_t>(Query::count_));
  Statement& kept = statements_[static_cast<std::size_t>(query)];
  if (!kept) {
    TRY_ASSIGN(kept, connection_.prepare(kSql[static_cast<std::size_t>(query)]));
  }
  return &kept;
}

// The transaction is only for speed; if it fails, each statement runs on its own.
void Reader::run(Query query) {
  if (const auto found = statement(query)) (*found)->run();
}

std::unexpected<Error> Reader::failed(int code, std::string_view doing) {
  return std::unexpected(connection_.error(code, doing));
}

std::unexpected<Error> Reader::failed_at(int code, const SessionId& session, Sequence sequence) {
  if (connection_.fault(code) == Fault::damaged)
    return std::unexpected(damaged_row(session, sequence, sqlite3_errstr(code)));
  return failed(code, fmt::format("reading event {} of session {}", sequence, session.text()));
}

Result<std::optional<std::int64_t>> Reader::key_of(const SessionId& session) {
  TRY_ASSIGN(Statement * query, statement(Query::session_key));
  const Running running(*query);
  query->bind(1, session.text());
  const int code = query->step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return failed(code, "finding session " + session.text());
  return query->integer(0);
}

Result<SessionId> Reader::session_of(std::int64_t key) {
  TRY_ASSIGN(Statement * query, statement(Query::session_id));
  const Running running(*query);
  query->bind(1, key);
  const int code = query->step();
  if (code == SQLITE_DONE)
    return fail(Code::internal, fmt::format("the store has lost the name of session row {}", key));
  if (code != SQLITE_ROW) return failed(code, "finding a session");
  return SessionId{std::string(query->text(0))};
}

Result<const RuntimeId*> Reader::runtime(std::int64_t key) {
  if (const auto known = runtimes_.find(key); known != runtimes_.end()) return &known->second;
  TRY_ASSIGN(Statement * query, statement(Query::runtime_id));
  const Running running(*query);
  query->bind(1, key);
  const int code = query->step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) return failed(code, "finding a runtime");
  if (runtimes_.size() >= kRuntimesMax) runtimes_.clear();
  // A missing name becomes an empty one, and the row's hash will not match.
  const std::string_view name = code == SQLITE_ROW ? query->text(0) : std::string_view{};
  return &(runtimes_[key] = RuntimeId{std::string(name)});
}

Result<std::optional<Digest>> Reader::row_hash(std::int64_t session, Sequence sequence) {
  TRY_ASSIGN(Statement * query, statement(Query::row_hash));
  const Running running(*query);
  query->bind(1, session);
  query->bind(2, clamp(sequence));
  const int code = query->step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return failed(code, "reading a row's hash");
  const std::string_view bytes = query->blob(0);
  Digest digest;
  if (bytes.size() != digest.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

// Checks that the row is the next one of its session, and advances `place` to it.
Result<Event> Reader::read_next(const EventRow& row, Place& place) {
  const Sequence next = place.sequence + 1;
  if (row.sequence() != next) return std::unexpected(damaged_row(place.id, next, "it is missing"));
  TRY_ASSIGN(const RuntimeId* runtime_id, runtime(row.runtime_key()));
  const PackedRow* from_pack = nullptr;
  if (row.packed()) {
    TRY_ASSIGN(from_pack, unpacked(row.session_key(), next));
  }
  TRY_ASSIGN(Event event, row.read(place.id, *runtime_id, place.hash, from_pack));
  place.sequence = next;
  place.hash = event.hash = *row.hash();
  return event;
}

Result<const PackedRow*> Reader::unpacked(std::int64_t session, Sequence sequence) {
  const auto in = [&](const Unpacked& pack) -> const PackedRow* {
    const bool holds = pack.session == session && pack.first <= sequence &&
                       sequence - pack.first < pack.rows.size();
    return holds ? &pack.rows[sequence - pack.first] : nullptr;
  };
  for (const Unpacked& pack : unpacked_)
    if (const PackedRow* row = in(pack)) return row;
  TRY_ASSIGN(Statement * query, statement(Query::pack));
  const Running running(*query);
  query->bind(1, session);
  query->bind(2, clamp(sequence));
  const int code = query->step();
  if (code == SQLITE_DONE) return nullptr;
  if (code != SQLITE_ROW) return failed(code, "reading a pack");
  auto rows = unpack(query->blob(1));
  if (!rows) return nullptr;  // a damaged pack: its rows are damaged too
  if (unpacked_.size() >= kUnpackedMax) unpacked_.clear();
  unpacked_.push_back({session, static_cast<Sequence>(query->integer(0)), *std::move(rows)});
  return in(unpacked_.back());
}

Result<std::vector<Event>> Reader::events(const SessionId& session, Sequence after,
                                          std::size_t events_max, std::size_t bytes_max) {
  unpacked_.clear();
  const Together together(*this);
  TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(session));
  if (!key) return std::unexpected(no_such_session(session));
  return page_of(*key, session, after, events_max, bytes_max);
}

Result<std::vector<Event>> Reader::events_at(const SessionId& session,
                                             std::span<const Sequence> sequences) {
  unpacked_.clear();
  const Together together(*this);
  TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(session));
  if (!key) return std::unexpected(no_such_session(session));
  std::vector<Event> out;
  for (const Sequence sequence : sequences) {
    TRY_ASSIGN(auto page, page_of(*key, session, sequence - 1, 1, 1));
    if (page.empty()) return std::unexpected(damaged_row(session, sequence, "it is missing"));
    out.push_back(std::move(page.front()));
  }
  return out;
}

Result<std::vector<Sequence>> Reader::sent(const SessionId& session, const ThreadId& thread,
                                           Sequence after, Sequence up_to, std::size_t max) {
  TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(session));
  if (!key) return std::unexpected(no_such_session(session));
  TRY_ASSIGN(Statement * query, statement(Query::sent));
  const Running running(*query);
  query->bind(1, *key);
  query->bind(2, thread.text());
  query->bind(3, clamp(after));
  query->bind(4, clamp(up_to));
  query->bind(5, clamp(max));
  std::vector<Sequence> out;
  int code = query->step();
  for (; code == SQLITE_ROW; code = query->step())
    out.push_back(static_cast<Sequence>(query->integer(0)));
  if (code != SQLITE_DONE) return std::unexpected(connection_.error(code, "reading a thread"));
  return out;
}

Result<std::vector<Event>> Reader::page_of(std::int64_t key, const SessionId& session,
                                           Sequence after, std::size_t events_max,
                                           std::size_t bytes_max) {
  TRY_ASSIGN(Statement * query, statement(Query::events));
  const Running running(*query);
  query->bind(1, key);
  query->bind(2, clamp(after));
  query->bind(3, clamp(after > 0 && events_max < SIZE_MAX ? events_max + 1 : events_max));

  std::vector<Event> page;
  Place place{session, 0, kNoPredecessor};
  std::size_t bytes = 0;
  const EventRow row(*query);
  int code = query->step();
  if (code == SQLITE_ROW && after > 0) {
    const std::optional<Digest> hash = row.hash();
    if (row.sequence() != after || !hash)
      return std::unexpected(damaged_row(session, after, "it is missing or has no hash"));
    place.sequence = after;
    place.hash = *hash;
    code = query->step();
  }
  for (; code == SQLITE_ROW && page.size() < events_max; code = query->step()) {
    TRY_ASSIGN(Event event, read_next(row, place));
    bytes += page_bytes(event.event);
    if (!page.empty() && bytes > bytes_max) return page;
    page.push_back(std::move(event));
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return failed_at(code, session, place.sequence + 1);
  return page;
}

// The place before the row: its session and its predecessor's hash.
Result<Reader::Place> Reader::place_before(const EventRow& row) {
  Place place;
  TRY_ASSIGN(place.id, session_of(row.session_key()));
  place.sequence = row.sequence() - 1;
  if (place.sequence == 0) return place;
  TRY_ASSIGN(const std::optional<Digest> hash, row_hash(row.session_key(), place.sequence));
  if (!hash)
    return std::unexpected(damaged_row(place.id, place.sequence, "it is missing or has no hash"));
  place.hash = *hash;
  return place;
}

// Returns the event, or a stand-in if the row or its predecessor is damaged. The next row is
// checked against this row's stored hash, even if that is wrong.
Result<Event> Reader::read_anyhow(const EventRow& row, std::map<std::int64_t, Place>& places) {
  auto at = places.find(row.session_key());
  std::optional<Error> unknown;  // why the predecessor is unavailable
  if (at == places.end()) {
    auto place = place_before(row);
    if (!place) {
      unknown = std::move(place).error();
      auto name = session_of(row.session_key());
      place = Place{name ? *std::move(name) : kLostSession, 0, kNoPredecessor};
    }
    at = places.emplace(row.session_key(), *std::move(place)).first;
  }
  Place& place = at->second;
  Result<Event> event = unknown ? std::unexpected(*std::move(unknown)) : read_next(row, place);
  if (event) return event;
  auto instead = stand_in(row.position(), place.id, row.sequence(), row.at(), event.error());
  if (!instead) return event;
  place.sequence = row.sequence();
  place.hash = row.hash().value_or(kNoPredecessor);
  return *std::move(instead);
}

Result<std::vector<Event>> Reader::all_events(Position after, std::size_t events_max,
                                              std::size_t bytes_max) {
  unpacked_.clear();
  TRY_ASSIGN(Statement * query, statement(Query::all_events));
  const Running running(*query);
  query->bind(1, clamp(after));
  query->bind(2, clamp(events_max));

  std::vector<Event> page;
  std::map<std::int64_t, Place> places;  // by session row id; at most one per event of the page
  std::size_t bytes = 0;
  Position position = after;
  const EventRow row(*query);
  int code = query->step();
  for (; code == SQLITE_ROW; code = query->step()) {
    position = row.position();
    TRY_ASSIGN(Event event, read_anyhow(row, places));
    bytes += page_bytes(event.event);
    if (!page.empty() && bytes > bytes_max) return page;
    page.push_back(std::move(event));
  }
  if (code != SQLITE_DONE)
    return failed(code, fmt::format("reading events after position {}", position));
  return page;
}

Result<Sequence> Reader::head(const SessionId& session) {
  TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(session));
  if (!key) return 0;
  TRY_ASSIGN(Statement * query, statement(Query::head));
  const Running running(*query);
  query->bind(1, *key);
  const int code = query->step();
  if (code != SQLITE_ROW) return failed(code, "reading the head of session " + session.text());
  return static_cast<Sequence>(query->integer(0));
}

Result<Position> Reader::last_position() {
  TRY_ASSIGN(Statement * query, statement(Query::last_position));
  const Running running(*query);
  const int code = query->step();
  if (code != SQLITE_ROW) return failed(code, "reading the last position");
  return static_cast<Position>(query->integer(0));
}

Result<std::optional<Snapshot>> Reader::snapshot(const SessionId& session) {
  TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(session));
  if (!key) return std::nullopt;
  TRY_ASSIGN(Statement * query, statement(Query::snapshot));
  const Running running(*query);
  query->bind(1, *key);
  const int code = query->step();
  if (code == SQLITE_DONE) return std::nullopt;
  // A snapshot is derived data: a damaged one is recomputed from the log.
  if (code != SQLITE_ROW && connection_.fault(code) == Fault::damaged) return Snapshot{};
  if (code != SQLITE_ROW) return failed(code, "reading the snapshot of session " + session.text());
  Snapshot snapshot{static_cast<Sequence>(query->integer(0)),
                    static_cast<std::uint64_t>(query->integer(1)), std::string(query->blob(3))};
  if (query->blob(2) != bytes_of(sha256(snapshot.bytes))) snapshot.bytes.clear();
  return snapshot;
}

Result<std::vector<Store::OldSnapshot>> Reader::old_snapshots(std::uint64_t fold_version,
                                                              std::uint64_t after,
                                                              std::size_t limit) {
  TRY_ASSIGN(Statement * query, statement(Query::old_snapshots));
  const Running running(*query);
  query->bind(1, clamp(after));
  query->bind(2, clamp(fold_version));
  query->bind(3, clamp(limit));
  std::vector<Store::OldSnapshot> out;
  int code = query->step();
  for (; code == SQLITE_ROW; code = query->step())
    out.push_back(
        {SessionId{std::string(query->text(1))}, static_cast<std::uint64_t>(query->integer(0))});
  if (code != SQLITE_DONE) return failed(code, "finding old snapshots");
  return out;
}

Result<std::optional<IndexEntry>> Reader::find(const std::string& kind, const std::string& id) {
  TRY_ASSIGN(Statement * query, statement(Query::find));
  const Running running(*query);
  query->bind(1, kind);
  query->bind(2, id);
  const int code = query->step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return failed(code, fmt::format("finding {} {}", kind, id));
  return read_entry(*query);
}

Result<Statement*> Reader::bind_list(const IndexQuery& query, std::int64_t session) {
  constexpr std::uint64_t kPastAll = std::numeric_limits<std::uint64_t>::max();
  const Query which = query.term && query.oldest_first ? Query::list_term_oldest
                      : query.term && query.session    ? Query::list_session_term
                      : query.term                     ? Query::list_term
                      : query.by_change                ? Query::list_changed
                      : query.open_only                ? Query::list_open
                      : !query.session                 ? Query::list_all
                      : query.parent                   ? Query::list_parent
                                                       : Query::list_session;
  TRY_ASSIGN(Statement * list, statement(which));
  list->bind(1, query.kind);
  list->bind(2, query.session ? session : clamp(query.before.value_or(kPastAll)));
  list->bind(3, clamp(query.session ? query.before.value_or(kPastAll) : query.before_first));
  list->bind(4, query.before_id);
  list->bind(5, clamp(query.limit));
  if (query.parent) list->bind(6, *query.parent);
  if (query.term) list->bind(6, *query.term);
  return list;
}

Result<std::vector<IndexEntry>> Reader::list(const IndexQuery& query) {
  TRY(check_query(query));
  const Together together(*this);
  std::vector<IndexEntry> entries;
  std::int64_t session = 0;
  if (query.session) {
    TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(*query.session));
    if (!key) return entries;
    session = *key;
  }
  TRY_ASSIGN(Statement * rows, bind_list(query, session));
  const Running running(*rows);
  int code = rows->step();
  for (; code == SQLITE_ROW; code = rows->step()) {
    entries.push_back(read_entry(*rows));
    if (query.session) entries.back().session = *query.session;
  }
  if (code != SQLITE_DONE) return failed(code, fmt::format("listing {} rows", query.kind));
  return entries;
}

Result<std::uint64_t> Reader::count(const IndexQuery& query) {
  TRY(check_query(query));
  TRY_ASSIGN(const std::optional<std::int64_t> key, key_of(query.session.value_or(SessionId{})));
  if (!key) return 0;
  TRY_ASSIGN(Statement * rows, statement(query.term     ? Query::count_term
                                         : query.parent ? Query::count_parent
                                                        : Query::count_session));
  const Running running(*rows);
  rows->bind(1, query.kind);
  rows->bind(2, *key);
  if (query.term) rows->bind(3, *query.term);
  if (query.parent) rows->bind(3, *query.parent);
  const int code = rows->step();
  if (code != SQLITE_ROW) return failed(code, fmt::format("counting {} rows", query.kind));
  return static_cast<std::uint64_t>(rows->integer(0));
}

Result<std::vector<IndexEntry>> Reader::due(std::size_t limit) {
  TRY_ASSIGN(Statement * rows, statement(Query::due));
  const Running running(*rows);
  rows->bind(1, clamp(limit));
  std::vector<IndexEntry> entries;
  int code = rows->step();
  for (; code == SQLITE_ROW; code = rows->step()) entries.push_back(read_entry(*rows));
  if (code != SQLITE_DONE) return failed(code, "finding what is due");
  return entries;
}

// One query per session, so the cost does not depend on the number of open rows per session.
Result<std::vector<SessionId>> Reader::open_sessions() {
  TRY_ASSIGN(Statement * query, statement(Query::open_session));
  std::vector<SessionId> sessions;
  std::int64_t last = 0;
  for (;;) {
    const Running running(*query);
    query->bind(1, last);
    const int code = query->step();
    if (code == SQLITE_DONE) return sessions;
    if (code != SQLITE_ROW) return failed(code, "finding open work");
    last = query->integer(0);
    sessions.emplace_back(std::string(query->text(1)));
  }
}

Result<std::optional<IdempotencyRecord>> Reader::idempotency(const std::string& principal,
                                                             const std::string& key) {
  TRY_ASSIGN(Statement * query, statement(Query::idempotency));
  const Running running(*query);
  query->bind(1, principal);
  query->bind(2, key);
  const int code = query->step();
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) return failed(code, "finding an idempotency key");
  return IdempotencyRecord{principal,
                           key,
                           std::string(query->text(0)),
                           std::string(query->text(1)),
                           std::string(query->text(2)),
                           Timestamp{query->integer(3)}};
}

Result<std::vector<schema::ChannelCursor>> Reader::cursors(std::span<const ChannelId> channels) {
  std::vector<schema::ChannelCursor> found;
  TRY_ASSIGN(Statement * query, statement(Query::cursor));
  for (const ChannelId& channel : channels) {
    const Running running(*query);
    query->bind(1, channel.text());
    const int code = query->step();
    if (code == SQLITE_DONE) continue;
    if (code != SQLITE_ROW) return failed(code, "finding channel " + channel.text());
    found.push_back({.channel = channel,
                     .session = SessionId{std::string(query->text(0))},
                     .token = std::string(query->text(1)),
                     .generation = GenerationId{std::string(query->text(2))},
                     .acknowledged = static_cast<Sequence>(query->integer(3)),
                     .resume_hash = std::string(query->blob(4)),
                     .resume_hash_used = std::string(query->blob(5)),
                     .seen_at = Timestamp{query->integer(6)}});
  }
  return found;
}

}  // namespace agentrt::store
