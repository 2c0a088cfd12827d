// store/sqlite/writer_upkeep.cc: maintenance by the writer: deletes old idempotency keys,
// preallocates the log, and rebuilds a session's index rows.

#include <algorithm>
#include <array>
#include <utility>

#include "store/row_check.h"
#include "store/sqlite/writer.h"

namespace agentrt::store {

Result<std::size_t> Writer::forget_idempotency(Timestamp before, std::size_t max) {
  constexpr std::size_t kForgetMax = 1'000'000;
  TRY(begin());
  forget_.bind(1, before.ms);
  forget_.bind(2, static_cast<std::int64_t>(std::min(max, kForgetMax)));
  if (const int code = forget_.run(); code != SQLITE_DONE) {
    Error error = give_up(code, "forgetting idempotency keys");
    roll_back();
    return std::unexpected(std::move(error));
  }
  const int forgotten = sqlite3_changes(connection_.handle());
  TRY(end());
  return static_cast<std::size_t>(forgotten);
}

// Runs within a transaction, so that no other program adds frames to the log meanwhile.
void Writer::make_room(std::uint64_t used, std::uint64_t bytes_max) {
  sqlite3_file* log = connection_.log_file();
  sqlite3_int64 size = 0;
  if (log == nullptr || log->pMethods->xFileSize(log, &size) != SQLITE_OK) return;
  const auto there = static_cast<std::uint64_t>(size);
  if (there == 0 || there >= used + kLogRoomMin || there >= bytes_max || !begin()) return;
  lengthen(*log, std::clamp(used, kLogStepMin, kLogStepMax));
  rollback_.run();
}

// Extends the file at its current end. Ignores a full disk: commits will report it.
void Writer::lengthen(sqlite3_file& log, std::uint64_t by) {
  static constexpr std::array<char, 64 << 10> kZeros{};
  sqlite3_int64 at = 0;
  if (log.pMethods->xFileSize(&log, &at) != SQLITE_OK) return;
  for (std::uint64_t put = 0; put < by; put += kZeros.size(), at += kZeros.size())
    if (log.pMethods->xWrite(&log, kZeros.data(), kZeros.size(), at) != SQLITE_OK) break;
  if (log.pMethods->xSync(&log, SQLITE_SYNC_NORMAL) != SQLITE_OK)
    guard_.fail("the lengthened write-ahead log could not be synced");
}

Result<void> Writer::rebuild(const SessionId& session, const Indexer& indexer) {
  TRY(begin());
  const auto key = reader_.key_of(session);
  Result<void> done;
  if (!key)
    done = std::unexpected(key.error());
  else if (!*key)
    done = std::unexpected(no_such_session(session));
  else
    done = derive_rows(session, **key, indexer);
  if (!done) {
    roll_back();
    return done;
  }
  return end();
}

Result<void> Writer::derive_rows(const SessionId& session, std::int64_t key,
                                 const Indexer& indexer) {
  constexpr std::size_t kPageEvents = 1'000;
  constexpr std::size_t kPageBytes = 1 << 20;
  TRY(drop_rows(key));
  for (Sequence after = 0;;) {
    TRY_ASSIGN(const std::vector<Event> page,
               reader_.events(session, after, kPageEvents, kPageBytes));
    if (page.empty()) return {};
    for (const Event& event : page) {
      if (Outcome sent = write_sent(key, event.event); sent.step != Step::done)
        return std::unexpected(std::move(sent.error));
      for (const IndexRow& row : indexer(event.event)) {
        Outcome put = write_row(key, row, event.position);
        if (put.step != Step::done) return std::unexpected(std::move(put.error));
      }
    }
    after = page.back().event.sequence;
  }
}

// Deletes kind by kind, since the lists are ordered by kind first.
Result<void> Writer::drop_rows(std::int64_t session) {
  for (std::string kind;;) {
    {
      const Running running(next_kind_);
      next_kind_.bind(1, kind);
      const int code = next_kind_.step();
      if (code == SQLITE_DONE) break;
      if (code != SQLITE_ROW) return std::unexpected(give_up(code, "finding index rows"));
      kind = std::string(next_kind_.text(0));
    }
    drop_kind_.bind(1, kind);
    drop_kind_.bind(2, session);
    const int code = drop_kind_.run();
    if (code != SQLITE_DONE) return std::unexpected(give_up(code, "dropping index rows"));
  }
  drop_terms_.bind(1, session);
  if (const int dropped = drop_terms_.run(); dropped != SQLITE_DONE)
    return std::unexpected(give_up(dropped, "dropping lists of index rows"));
  drop_sent_.bind(1, session);
  if (const int dropped = drop_sent_.run(); dropped != SQLITE_DONE)
    return std::unexpected(give_up(dropped, "dropping the list of facts by thread"));
  drop_snapshot_.bind(1, session);
  const int code = drop_snapshot_.run();
  if (code != SQLITE_DONE) return std::unexpected(give_up(code, "dropping a snapshot"));
  return {};
}

// --- what is beside the log ---

Result<void> Writer::prepare_cursors() {
  TRY_ASSIGN(
      put_cursor_,
      connection_.prepare(
          "INSERT INTO channel(id, session, token, generation, acknowledged, resume_hash, "
          "resume_hash_used, seen_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
          "ON CONFLICT(id) DO UPDATE SET generation = excluded.generation, "
          "acknowledged = CASE WHEN generation = excluded.generation "
          "THEN max(acknowledged, excluded.acknowledged) ELSE excluded.acknowledged END, "
          "resume_hash = excluded.resume_hash, resume_hash_used = excluded.resume_hash_used, "
          "seen_at = excluded.seen_at WHERE session = excluded.session"));
  TRY_ASSIGN(drop_cursor_, connection_.prepare("DELETE FROM channel WHERE id = ?1"));
  TRY_ASSIGN(acknowledge_,
             connection_.prepare("UPDATE channel SET acknowledged = max(acknowledged, ?2), "
                                 "seen_at = ?3 WHERE id = ?1 AND generation = ?4"));
  return {};
}

Writer::Outcome Writer::write_cursors(std::int64_t session, const Append& append) {
  for (const schema::ChannelCursor& cursor : append.cursors) {
    put_cursor_.bind(1, cursor.channel.text());
    put_cursor_.bind(2, session);
    put_cursor_.bind(3, cursor.token);
    put_cursor_.bind(4, cursor.generation.text());
    put_cursor_.bind(5, static_cast<std::int64_t>(cursor.acknowledged));
    put_cursor_.bind_blob(6, cursor.resume_hash);
    put_cursor_.bind_blob(7, cursor.resume_hash_used);
    put_cursor_.bind(8, cursor.seen_at.ms);
    Outcome put = outcome_of(put_cursor_.run(), "writing the cursor of a channel");
    if (put.step != Step::done) return put;
  }
  for (const ChannelId& channel : append.cursors_dropped) {
    drop_cursor_.bind(1, channel.text());
    Outcome dropped = outcome_of(drop_cursor_.run(), "dropping the cursor of a channel");
    if (dropped.step != Step::done) return dropped;
  }
  return {};
}

Writer::Outcome Writer::write_acknowledgements(const Append& append) {
  for (const Acknowledgement& each : append.acknowledged) {
    acknowledge_.bind(1, each.channel.text());
    acknowledge_.bind(2, static_cast<std::int64_t>(each.sequence));
    acknowledge_.bind(3, each.at.ms);
    acknowledge_.bind(4, each.generation.text());
    Outcome stored = outcome_of(acknowledge_.run(), "storing an acknowledgement");
    if (stored.step != Step::done) return stored;
  }
  return {};
}

}  // namespace agentrt::store
