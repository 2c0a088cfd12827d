#include "store/sqlite/writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "schema/sent.h"
#include "store/row_check.h"

namespace agentrt::store {
namespace {

// Number of cached runtime row ids.
constexpr std::size_t kRuntimesMax = 64;

int count_wal_pages(void* counter, sqlite3*, const char*, int pages) {
  static_cast<std::atomic<int>*>(counter)->store(pages, std::memory_order_relaxed);
  return SQLITE_OK;
}

}  // namespace

Writer::Writer(Connection connection, SyncGuard& guard, std::size_t heads_max,
               std::function<bool()> settle)
    : connection_(std::move(connection)),
      guard_(guard),
      settle_(std::move(settle)),
      reader_(connection_),
      heads_(heads_max),
      heads_max_(heads_max) {
  sqlite3_wal_hook(connection_.handle(), count_wal_pages, &wal_pages_);
}

Result<std::unique_ptr<Writer>> Writer::open(Connection connection, SyncGuard& guard,
                                             std::size_t heads_max, std::function<bool()> settle) {
  std::unique_ptr<Writer> writer(
      new Writer(std::move(connection), guard, heads_max, std::move(settle)));
  TRY(writer->prepare());
  TRY_ASSIGN(writer->last_position_, writer->reader_.last_position());
  return writer;
}

Result<void> Writer::prepare() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&rollback_, "ROLLBACK"},
      {&put_event_,
       "INSERT INTO event(position, session, sequence, at, type, version, runtime, scope, hash, "
       "payload) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
      {&put_row_,
       "INSERT INTO object(kind, id, session, parent, first, status, open, record, terms, due, "
       "changed, changed_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
       "ON CONFLICT(kind, id) DO UPDATE SET "
       "parent = excluded.parent, first = excluded.first, status = excluded.status, "
       "open = excluded.open, record = excluded.record, terms = excluded.terms, "
       "due = excluded.due, changed = excluded.changed, changed_at = excluded.changed_at "
       "WHERE session = excluded.session"},
      {&put_sent_, "INSERT OR IGNORE INTO sent(session, thread, sequence) VALUES(?1, ?2, ?3)"},
      {&drop_sent_, "DELETE FROM sent WHERE session = ?1"},
      {&get_terms_, "SELECT terms, first FROM object WHERE kind = ?1 AND id = ?2"},
      {&put_term_,
       "INSERT OR IGNORE INTO term(kind, term, session, first, id) "
       "VALUES(?1, ?2, ?3, ?4, ?5)"},
      {&drop_term_,
       "DELETE FROM term WHERE kind = ?1 AND term = ?2 AND session = ?3 AND "
       "first = ?4 AND id = ?5"},
      {&drop_terms_, "DELETE FROM term WHERE session = ?1"},
      {&put_record_,
       "INSERT INTO idempotency(principal, key, command, params_hash, reply, at) "
       "VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(principal, key) DO NOTHING"},
      {&put_snapshot_,
       "INSERT OR REPLACE INTO snapshot(session, sequence, fold_version, sha256, bytes) "
       "VALUES(?1, ?2, ?3, ?4, ?5)"},
      {&put_session_, "INSERT INTO session(id) VALUES(?1) ON CONFLICT(id) DO NOTHING"},
      {&get_session_, "SELECT key FROM session WHERE id = ?1"},
      {&get_head_,
       "SELECT sequence, hash FROM event WHERE session = ?1 ORDER BY sequence DESC LIMIT 1"},
      {&put_runtime_, "INSERT INTO runtime(id) VALUES(?1) ON CONFLICT(id) DO NOTHING"},
      {&get_runtime_, "SELECT key FROM runtime WHERE id = ?1"},
      {&forget_,
       "DELETE FROM idempotency WHERE rowid IN "
       "(SELECT rowid FROM idempotency WHERE at < ?1 ORDER BY at LIMIT ?2)"},
      {&next_kind_, "SELECT kind FROM object WHERE kind > ?1 ORDER BY kind LIMIT 1"},
      {&drop_kind_, "DELETE FROM object WHERE kind = ?1 AND session = ?2"},
      {&drop_snapshot_, "DELETE FROM snapshot WHERE session = ?1"},
      {&get_progress_, "SELECT value FROM meta WHERE name = 'packed'"},
      {&put_progress_,
       "INSERT INTO meta(name, value) VALUES('packed', ?1) "
       "ON CONFLICT(name) DO UPDATE SET value = excluded.value"},
      {&look_,
       "SELECT position, session, sequence, type, scope FROM event WHERE position > ?1 "
       "ORDER BY position LIMIT ?2"},
      {&run_before_,
       "SELECT sequence, type, scope, payload FROM event WHERE session = ?1 AND sequence < ?2 "
       "ORDER BY sequence DESC"},
      {&put_pack_, "INSERT INTO pack(session, first, last, bytes) VALUES(?1, ?2, ?3, ?4)"},
      {&thin_,
       "UPDATE event SET scope = '', payload = NULL "
       "WHERE session = ?1 AND sequence BETWEEN ?2 AND ?3"},
  };
  for (const auto& [statement, sql] : all) {
    TRY_ASSIGN(*statement, connection_.prepare(sql));
  }
  return prepare_cursors();
}

std::vector<Result<Position>> Writer::commit(std::span<const Append> appends) {
  std::vector<Result<Position>> results(appends.size(), Result<Position>{0});
  std::vector<Step> steps(appends.size(), Step::done);
  for (const Append& append : appends) check_append(append);
  // Each further attempt excludes one more append, so the loop terminates.
  while (attempt(appends, results, steps) == Attempt::again) {
  }
  return results;
}

Writer::Attempt Writer::attempt(std::span<const Append> appends,
                                std::vector<Result<Position>>& results, std::vector<Step>& steps) {
  const auto fail_all = [&](const Error& error) {
    for (std::size_t i = 0; i < appends.size(); ++i)
      if (steps[i] == Step::done) results[i] = std::unexpected(error);
    return Attempt::finished;
  };
  if (auto begun = begin(); !begun) return fail_all(begun.error());
  bool wrote = false;  // an append may write only idempotency records, without positions
  for (std::size_t i = 0; i < appends.size(); ++i) {
    if (steps[i] == Step::refused) continue;
    const Position first = next_position_;
    Outcome outcome = write(appends[i]);
    steps[i] = outcome.step == Step::failed ? Step::done : outcome.step;
    if (outcome.step == Step::done)
      results[i] = first;
    else
      results[i] = std::unexpected(outcome.error);
    wrote |= outcome.step == Step::done;
    if (outcome.step != Step::refused && outcome.step != Step::failed) continue;
    roll_back();
    if (outcome.step == Step::failed) return fail_all(outcome.error);
    for (Step& step : steps)  // without the refused append, these may succeed
      if (step == Step::untouched) step = Step::done;
    return Attempt::again;
  }
  if (!wrote) {  // all appends were refused
    roll_back();
    return Attempt::finished;
  }
  if (auto ended = end(); !ended) return fail_all(ended.error());
  return Attempt::finished;
}

Result<void> Writer::begin() {
  if (guard_.stopped()) return std::unexpected(SyncGuard::error());
  if (sqlite3_get_autocommit(connection_.handle()) == 0) roll_back();  // left by a failed commit
  if (stale_) {
    heads_ = Heads(heads_max_);
    TRY_ASSIGN(last_position_, reader_.last_position());
    stale_ = false;
  }
  next_position_ = last_position_ + 1;
  const int code = begin_.run();
  if (code != SQLITE_DONE) return std::unexpected(give_up(code, "beginning a transaction"));
  return {};
}

Result<void> Writer::end() {
  const int code = commit_.run();
  if (code == SQLITE_DONE) {
    if (next_position_ - 1 > last_position_) newest_ = {next_position_ - 1, next_hash_};
    last_position_ = next_position_ - 1;
    touched_.clear();
    return {};
  }
  const bool before_last_frame =
      (code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_BUSY || code == SQLITE_IOERR_WRITE;
  Error error = give_up(code, "committing");
  roll_back();
  if (!before_last_frame && !guard_.stopped() && !settle_())
    guard_.fail("the outcome of a commit is not known: " + error.message);
  return std::unexpected(guard_.stopped() ? SyncGuard::error() : std::move(error));
}

// Rolls the transaction back and drops what was cached in it.
void Writer::roll_back() {
  // After some errors SQLite has already rolled back.
  if (sqlite3_get_autocommit(connection_.handle()) == 0) rollback_.run();
  for (const SessionId* session : touched_) heads_.drop(*session);
  touched_.clear();
  runtimes_.clear();
  next_position_ = last_position_ + 1;
}

// The error for a failed call. A failed sync stops the store.
Error Writer::give_up(int code, std::string_view doing) {
  Error error = connection_.error(code, doing);
  if (connection_.fault(code) != Fault::sync) return error;
  guard_.fail(error.message);
  return SyncGuard::error();
}

Writer::Outcome Writer::outcome_of(int code, std::string_view doing) {
  if (code == SQLITE_DONE) return {};
  const Fault fault = connection_.fault(code);
  if (fault == Fault::taken) {
    stale_ = true;
    return {Step::failed,
            {Code::unavailable, "another program has changed the store; try again", {}}};
  }
  const bool own = fault == Fault::damaged || fault == Fault::too_large;
  return {own ? Step::refused : Step::failed, give_up(code, doing)};
}

Writer::Outcome Writer::write(const Append& append) {
  if (append.beside_log()) return write_acknowledgements(append);
  Head* head = nullptr;
  if (Outcome found = find_head(append, head); found.step != Step::done) return found;
  touched_.push_back(&append.session);
  const std::int64_t key = head->key;
  if (Outcome done = write_events(append, *head); done.step != Step::done) return done;
  for (const IndexRow& row : append.index) {
    const Position changed_at =
        row.changed > 0 ? next_position_ - 1 - (head->sequence - row.changed) : 0;
    if (Outcome done = write_row(key, row, changed_at); done.step != Step::done) return done;
  }
  for (const IdempotencyRecord& record : append.idempotency)
    if (Outcome done = write_record(record); done.step != Step::done) return done;
  if (Outcome done = write_cursors(key, append); done.step != Step::done) return done;
  if (Outcome done = write_acknowledgements(append); done.step != Step::done) return done;
  if (append.snapshot) return write_snapshot(key, *append.snapshot);
  return {};
}

// Finds the session's head and checks `expected`. Creates the row of a new session.
Writer::Outcome Writer::find_head(const Append& append, Head*& head) {
  head = heads_.find(append.session);
  if (head == nullptr && append.expected == 0) {
    put_session_.bind(1, append.session.text());
    if (Outcome put = outcome_of(put_session_.run(), "creating a session"); put.step != Step::done)
      return put;
    if (sqlite3_changes(connection_.handle()) == 1) {
      const Head born{sqlite3_last_insert_rowid(connection_.handle()), 0, kNoPredecessor};
      head = &heads_.put(append.session, born);
      return {};
    }
  }
  if (head == nullptr) {
    Head stored;
    if (Outcome read = load_head(append.session, stored); read.step != Step::done) return read;
    if (stored.key == 0) return {Step::untouched, sequence_conflict(append, 0)};
    head = &heads_.put(append.session, stored);
  }
  if (head->sequence != append.expected)
    return {Step::untouched, sequence_conflict(append, head->sequence)};
  return {};
}

// Leaves head.key at 0 if there is no such session.
Writer::Outcome Writer::load_head(const SessionId& session, Head& head) {
  {
    const Running running(get_session_);
    get_session_.bind(1, session.text());
    const int code = get_session_.step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return outcome_of(code, "finding session " + session.text());
    head.key = get_session_.integer(0);
  }
  const Running running(get_head_);
  get_head_.bind(1, head.key);
  const int code = get_head_.step();
  if (code == SQLITE_DONE) return {Step::refused, damaged_row(session, 1, "it is missing")};
  if (code != SQLITE_ROW) return outcome_of(code, "reading the head of session " + session.text());
  head.sequence = static_cast<Sequence>(get_head_.integer(0));
  const std::string_view hash = get_head_.blob(1);
  if (hash.size() != head.hash.size())
    return {Step::refused, damaged_row(session, head.sequence, "it has no hash")};
  std::copy(hash.begin(), hash.end(), head.hash.begin());
  return {};
}

Writer::Outcome Writer::runtime_key(const RuntimeId& runtime, std::int64_t& key) {
  if (const auto known = runtimes_.find(runtime); known != runtimes_.end()) {
    key = known->second;
    return {};
  }
  put_runtime_.bind(1, runtime.text());
  if (Outcome put = outcome_of(put_runtime_.run(), "naming a runtime"); put.step != Step::done)
    return put;
  const Running running(get_runtime_);
  get_runtime_.bind(1, runtime.text());
  const int code = get_runtime_.step();
  if (code != SQLITE_ROW) return outcome_of(code, "finding a runtime");
  key = get_runtime_.integer(0);
  if (runtimes_.size() >= kRuntimesMax) runtimes_.clear();
  runtimes_.emplace(runtime, key);
  return {};
}

Writer::Outcome Writer::write_events(const Append& append, Head& head) {
  const RuntimeId* runtime = nullptr;
  std::int64_t runtime_row = 0;
  for (const schema::StoredEvent& event : append.events) {
    if (runtime == nullptr || event.runtime != *runtime) {
      if (Outcome found = runtime_key(event.runtime, runtime_row); found.step != Step::done)
        return found;
      runtime = &event.runtime;
    }
    head.hash = schema::chain(head.hash, event);
    head.sequence = event.sequence;
    put_event_.bind(1, static_cast<std::int64_t>(next_position_++));
    put_event_.bind(2, head.key);
    put_event_.bind(3, static_cast<std::int64_t>(event.sequence));
    put_event_.bind(4, event.at.ms);
    put_event_.bind(5, event.type);
    put_event_.bind(6, event.schema_version);
    put_event_.bind(7, runtime_row);
    put_event_.bind(8, event.scope);
    put_event_.bind_blob(9, bytes_of(head.hash));
    put_event_.bind(10, event.payload);
    const int code = put_event_.run();
    if (code != SQLITE_DONE) return outcome_of(code, "appending to " + append.session.text());
    if (Outcome listed = write_sent(head.key, event); listed.step != Step::done) return listed;
  }
  if (!append.events.empty()) next_hash_ = head.hash;
  return {};
}

Writer::Outcome Writer::write_sent(std::int64_t session, const schema::StoredEvent& event) {
  const auto thread = schema::sent_in(event);
  if (!thread) return {};
  put_sent_.bind(1, session);
  put_sent_.bind(2, thread->text());
  put_sent_.bind(3, static_cast<std::int64_t>(event.sequence));
  return outcome_of(put_sent_.run(), "listing a fact under its thread");
}

Writer::Outcome Writer::write_row(std::int64_t session, const IndexRow& row, Position changed_at) {
  put_row_.bind(1, row.kind);
  put_row_.bind(2, row.id);
  put_row_.bind(3, session);
  put_row_.bind(4, row.parent);
  put_row_.bind(5, static_cast<std::int64_t>(row.first));
  put_row_.bind(6, row.status);
  put_row_.bind(7, std::int64_t{row.open ? 1 : 0});
  put_row_.bind(8, row.record);
  std::string terms;
  for (const std::string& term : row.terms) terms += terms.empty() ? term : '\n' + term;
  put_row_.bind(9, terms);
  if (row.due)
    put_row_.bind(10, row.due->ms);
  else
    put_row_.bind_null(10);
  if (row.changed > 0) {
    put_row_.bind(11, static_cast<std::int64_t>(row.changed));
    put_row_.bind(12, static_cast<std::int64_t>(changed_at));
  } else {
    put_row_.bind_null(11);
    put_row_.bind_null(12);
  }
  if (Outcome listed = write_terms(session, row, terms); listed.step != Step::done) return listed;
  if (Outcome put = outcome_of(put_row_.run(), "writing an index row"); put.step != Step::done)
    return put;
  if (sqlite3_changes(connection_.handle()) == 0) return {Step::refused, row_taken(row)};
  return {};
}

Writer::Outcome Writer::write_terms(std::int64_t session, const IndexRow& row,
                                    const std::string& terms) {
  std::string before;
  Sequence first = row.first;
  {
    const Running running(get_terms_);
    get_terms_.bind(1, row.kind);
    get_terms_.bind(2, row.id);
    const int code = get_terms_.step();
    if (code == SQLITE_ROW) {
      before = get_terms_.text(0);
      first = static_cast<Sequence>(get_terms_.integer(1));
    } else if (code != SQLITE_DONE) {
      return outcome_of(code, "reading an index row");
    }
  }
  if (before == terms && (terms.empty() || first == row.first)) return {};
  for (std::string_view left = before; !left.empty();) {
    const std::size_t end = left.find('\n');
    Outcome dropped = change_term(drop_term_, session, row, first, left.substr(0, end));
    if (dropped.step != Step::done) return dropped;
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  for (const std::string& term : row.terms)
    if (Outcome put = change_term(put_term_, session, row, row.first, term); put.step != Step::done)
      return put;
  return {};
}

Writer::Outcome Writer::change_term(Statement& statement, std::int64_t session, const IndexRow& row,
                                    Sequence first, std::string_view term) {
  statement.bind(1, row.kind);
  statement.bind(2, term);
  statement.bind(3, session);
  statement.bind(4, static_cast<std::int64_t>(first));
  statement.bind(5, row.id);
  return outcome_of(statement.run(), "writing a list of index rows");
}

Writer::Outcome Writer::write_record(const IdempotencyRecord& record) {
  put_record_.bind(1, record.principal);
  put_record_.bind(2, record.key);
  put_record_.bind(3, record.command);
  put_record_.bind(4, record.params_hash);
  put_record_.bind(5, record.reply);
  put_record_.bind(6, record.at.ms);
  if (Outcome put = outcome_of(put_record_.run(), "recording a key"); put.step != Step::done)
    return put;
  if (sqlite3_changes(connection_.handle()) == 0) return {Step::refused, key_taken(record)};
  return {};
}

Writer::Outcome Writer::write_snapshot(std::int64_t session, const Snapshot& snapshot) {
  const Digest digest = sha256(snapshot.bytes);
  put_snapshot_.bind(1, session);
  put_snapshot_.bind(2, static_cast<std::int64_t>(snapshot.sequence));
  put_snapshot_.bind(3, static_cast<std::int64_t>(snapshot.fold_version));
  put_snapshot_.bind_blob(4, bytes_of(digest));
  put_snapshot_.bind_blob(5, snapshot.bytes);
  return outcome_of(put_snapshot_.run(), "storing a snapshot");
}

}  // namespace agentrt::store
