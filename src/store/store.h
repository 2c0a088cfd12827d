// store/store.h: the interface of a store: the log, index rows, snapshots and idempotency records.
//
// The log is the only source of truth. Index rows and snapshots are derived from it and can be
// rebuilt. They are written in the transaction of their append, so they are never behind. Only what
// clients have acknowledged and the hashes of their resume tokens are stored beside the log.
//
// A Store is synchronous and knows no threads of its own. commit() is called by one thread at a
// time; the reads may run beside it on other threads and see only what is committed and synced.
// Implementations: memory/ (tests, simulation) and sqlite/. One suite, store_suite_test.cc, holds
// both to this contract.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "schema/channels.h"
#include "schema/envelope.h"

namespace agentrt::store {

// The position of a fact in the order of all facts of all sessions, from 1.
using Position = std::uint64_t;

// A derived record of one object (session, thread, turn, task, …), identified by kind and id.
struct IndexRow {
  std::string kind;
  std::string id;      // unique per kind; for a thread SESSION/THREAD
  std::string parent;  // the object it is listed under (for a turn its thread), or empty
  Sequence first = 0;  // sequence of its first fact; lists are sorted by it
  std::string status;
  bool open = false;   // has unfinished work; looked up at start-up
  std::string record;  // a JSON object
  // The lists that the row is in, such as `status=running`. Not empty, without line breaks, each at
  // most once. IndexQuery::term reads one list at the cost of its page.
  std::vector<std::string> terms = {};
  std::optional<Timestamp> due = {};  // when the runtime must look at the object again
  // The sequence of the fact that changed it last, if the row is in the list of its kind by last
  // change (IndexQuery::by_change); otherwise 0. In an append, it is one of its facts.
  Sequence changed = 0;

  bool operator==(const IndexRow&) const = default;
};

// An index row with the session that owns it.
struct IndexEntry {
  SessionId session;
  std::uint64_t session_order = 0;  // number of the session in order of creation, from 1
  IndexRow row;
  Position changed_at = 0;  // of the fact `row.changed`; 0: it has none

  bool operator==(const IndexEntry&) const = default;
};

struct IdempotencyRecord {
  std::string principal;
  std::string key;
  std::string command;
  std::string params_hash;  // a keyed hash; the params are not stored
  std::string reply;
  Timestamp at;

  bool operator==(const IdempotencyRecord&) const = default;
};

struct Snapshot {
  Sequence sequence = 0;
  std::uint64_t fold_version = 0;
  std::string bytes;

  bool operator==(const Snapshot&) const = default;
};

// A client has received the events of a channel up to `sequence`. Never lowers what is stored, and
// changes nothing if the channel is unknown or counts in another generation.
struct Acknowledgement {
  ChannelId channel;
  GenerationId generation;
  Sequence sequence = 0;
  Timestamp at;
};

// The events, rows, records and snapshot of one session, written all or nothing.
struct Append {
  SessionId session;
  Sequence expected = 0;  // the session's last sequence; 0 creates the session
  // Their sequences are expected + 1, expected + 2, … Empty only to store the reply for an
  // idempotency key, or what is beside the log.
  std::vector<schema::StoredEvent> events;
  std::vector<IndexRow> index;  // upserts, at most one per (kind, id)
  std::vector<IdempotencyRecord> idempotency;
  std::optional<Snapshot> snapshot;
  // New or changed. Within a generation, `acknowledged` never goes back.
  std::vector<schema::ChannelCursor> cursors = {};
  std::vector<ChannelId> cursors_dropped = {};
  std::vector<Acknowledgement> acknowledged = {};

  // It has nothing but acknowledgements, so its session need not be at `expected`.
  bool beside_log() const { return events.empty() && idempotency.empty() && !acknowledged.empty(); }
};

struct Event {
  Position position = 0;
  schema::StoredEvent event;
  // In pages over all sessions: why the row is damaged. Then only session, sequence and at of
  // `event` are set.
  std::optional<std::string> damage;
  Digest hash{};  // of the row: schema::chain(); verified
};

// Selects index entries; results are newest first.
struct IndexQuery {
  std::string kind;
  std::optional<SessionId> session;  // nullopt: all sessions, by session_order
  // Only entries before this: a `first` in one session, a session_order over all sessions.
  std::optional<std::uint64_t> before;
  // Cursor for entries with the same value of `before`: the `first` (over all sessions) and the id
  // of the last entry read. The next page starts after that entry.
  Sequence before_first = 0;
  std::string before_id;
  std::optional<std::string> parent;  // only entries under this parent; not empty; needs `session`
  bool open_only = false;             // only open entries; without `session`
  // Only entries with this term; without `parent` and `open_only`.
  std::optional<std::string> term = {};
  bool oldest_first = false;  // the first page in reverse order; with `term` and `session` only
  // Over all sessions: only rows with `changed`, the one that changed last first. `before` is then
  // the `changed_at` of the last entry read. Alone, with `kind` and `limit`.
  bool by_change = false;
  std::size_t limit = 100;
};

using Indexer = std::function<std::vector<IndexRow>(const schema::StoredEvent& event)>;

// Called when a sync fails; ends the process. A retry could report data as stored that the kernel
// has already dropped.
using OnSyncFailure = std::function<void(const std::string& what)>;

class Store {
 public:
  virtual ~Store() = default;

  // Writes all appends in order, in one transaction with one sync. Returns for each the position of
  // its first event, or an error. For one append, while the others succeed: conflict (`expected` is
  // not the session's last sequence, an idempotency key is already recorded, or an index row
  // belongs to another session), `internal` (the store is damaged there), too_large (a payload
  // exceeds the limit). For all appends: storage_full (nothing was written; a later commit may
  // succeed) or unavailable. Several appends of one session are allowed; each expects the sequence
  // that the previous one leaves.
  virtual std::vector<Result<Position>> commit(std::span<const Append> appends) = 0;

  // Events after `after`, in order: at most `events_max` and about `bytes_max` bytes, but at least
  // one. Verifies each row's hash against its bytes and its predecessor. Errors: `internal` for a
  // damaged row, with sessionId and sequence in the details; not_found: no such session.
  // all_events() returns a damaged row with `damage` instead, so that it does not block the other
  // sessions. An `after` at or past the end gives an empty page. An erased payload reads as
  // {"erased":true}.
  virtual Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                            std::size_t events_max, std::size_t bytes_max) = 0;
  // The given events of a session, in the given order. Errors: `internal` if one is missing. The
  // default reads one by one.
  virtual Result<std::vector<Event>> events_at(const SessionId& session,
                                               std::span<const Sequence> sequences);
  // The sequences of the thread's facts that model requests are made of (schema/sent.h), after
  // `after` and up to and with `up_to`, in order; at most `max`.
  virtual Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                             Sequence after, Sequence up_to, std::size_t max) = 0;
  virtual Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                                std::size_t bytes_max) = 0;
  // The session's last sequence; 0: no such session.
  virtual Result<Sequence> head(const SessionId& session) = 0;
  virtual Result<Position> last_position() = 0;

  // A snapshot that is damaged has no bytes. It can be computed again.
  virtual Result<std::optional<Snapshot>> snapshot(const SessionId& session) = 0;
  // The first sessions after `after` in the order of their creation whose snapshot has another fold
  // version, at most `limit`.
  struct OldSnapshot {
    SessionId session;
    std::uint64_t session_order = 0;
  };
  virtual Result<std::vector<OldSnapshot>> old_snapshots(std::uint64_t fold_version,
                                                         std::uint64_t after,
                                                         std::size_t limit) = 0;
  virtual Result<std::optional<IndexEntry>> find(const std::string& kind,
                                                 const std::string& id) = 0;
  virtual Result<std::vector<IndexEntry>> list(const IndexQuery& query) = 0;
  // The number of entries that the query selects without `before` and `limit`. Needs `session`.
  virtual Result<std::uint64_t> count(const IndexQuery& query) = 0;
  // The entries with a due time, earliest first, then by kind and id; at most `limit`.
  virtual Result<std::vector<IndexEntry>> due(std::size_t limit) = 0;
  // Sessions with an open index row, oldest first.
  virtual Result<std::vector<SessionId>> open_sessions() = 0;
  virtual Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                               const std::string& key) = 0;

  // The cursors of these channels, without those that are not stored.
  virtual Result<std::vector<schema::ChannelCursor>> cursors(
      std::span<const ChannelId> channels) = 0;

  // Deletes at most `max` idempotency records older than `before` and returns their number. Not
  // concurrent with commit().
  virtual Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) = 0;
  // Discards one session's index rows and snapshot and derives the rows again from its log. Calls
  // `indexer` with every event in order. Not concurrent with commit().
  virtual Result<void> rebuild(const SessionId& session, const Indexer& indexer) = 0;

  // Packs completed runs of fragments (sqlite/pack.h), if the store supports it. Scans about
  // `rows_max` rows. True: there is more to scan. Invisible to readers. Not concurrent with
  // commit().
  virtual Result<bool> pack(std::size_t rows_max) = 0;
  // Called when no commit is pending: a store may do work that makes the next commit cheaper. Not
  // concurrent with commit().
  virtual void make_room() = 0;

  virtual const RuntimeId& runtime() const = 0;  // never changes
  virtual const GenerationId& generation() const = 0;
  virtual const std::string& hash_key() const = 0;  // 32 secret bytes, for params_hash
};

}  // namespace agentrt::store
