// store/store.h: the log, the index rows beside it, snapshots and idempotency records.
//
// The log is the only truth. Index rows and snapshots are derived from it and can be rebuilt; they
// are written in the append's own transaction, so they never lag it.
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
#include "schema/envelope.h"

namespace agentrt::store {

// A place in the order of all sessions' facts, from 1; grows with every fact of every session.
using Position = std::uint64_t;

// A derived record of one object (session, thread, turn, task, …), found by kind and id alone.
struct IndexRow {
  std::string kind;
  std::string id;      // unique within its kind; a thread's is SESSION/THREAD
  std::string parent;  // what it is listed under within its session (a turn's thread), or empty
  Sequence first = 0;  // the sequence of its first fact: the order of windows
  std::string status;
  bool open = false;   // unfinished work, found at start-up
  std::string record;  // a JSON object

  bool operator==(const IndexRow&) const = default;
};

// As read back: with the session that owns it.
struct IndexEntry {
  SessionId session;
  std::uint64_t session_order = 0;  // sessions in the order they were created, from 1
  IndexRow row;

  bool operator==(const IndexEntry&) const = default;
};

struct IdempotencyRecord {
  std::string principal;
  std::string key;
  std::string command;
  std::string params_hash;  // keyed; never the params
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

// All or nothing: events, rows, records and snapshot of one session.
struct Append {
  SessionId session;
  Sequence expected = 0;  // the session's last sequence; 0 creates the session
  // Sequences expected + 1, expected + 2, …; empty only to record the answer to a key.
  std::vector<schema::StoredEvent> events;
  std::vector<IndexRow> index;  // upserts, at most one per (kind, id)
  std::vector<IdempotencyRecord> idempotency;
  std::optional<Snapshot> snapshot;
};

struct Event {
  Position position = 0;
  schema::StoredEvent event;
  // In pages over all sessions: why the row cannot be trusted. Of `event` only session, sequence
  // and at are set then.
  std::optional<std::string> damage;
};

// Which index entries, newest first.
struct IndexQuery {
  std::string kind;
  std::optional<SessionId> session;  // absent: entries of all sessions, by session_order
  // Only entries before this: a `first` within one session, a session_order over all of them.
  std::optional<std::uint64_t> before;
  // Where several entries share that place, the rest of the last entry read, so that the next page
  // starts right after it: its `first` (over all sessions) and its id.
  Sequence before_first = 0;
  std::string before_id;
  std::optional<std::string> parent;  // only entries under this; not empty; with `session`
  bool open_only = false;             // only open ones; over all sessions
  std::size_t limit = 100;
};

using Indexer = std::function<std::vector<IndexRow>(const schema::StoredEvent& event)>;

// What ends the process: a sync that failed, whatever the reason. Retrying could report as stored
// what the kernel has already dropped.
using OnSyncFailure = std::function<void(const std::string& what)>;

class Store {
 public:
  virtual ~Store() = default;

  // Appends each in order within one transaction and one sync, and says for each what became of it:
  // the position of its first event; conflict (expected is not the session's last sequence, an
  // idempotency key is recorded already, or an index row's id belongs to another session; the
  // others still go through); or, for every one alike, storage_full (nothing was written; reads go
  // on; a later commit may succeed) or unavailable. A damaged place in the store or a payload past
  // its size is `internal` or too_large for the append that met it, and the others go through.
  // A span may hold several appends of one session, each expecting what the one before it leaves.
  virtual std::vector<Result<Position>> commit(std::span<const Append> appends) = 0;

  // Events after `after`, in order, at most `events_max` and about `bytes_max` (at least one).
  // Every row's hash is checked against its bytes and its predecessor: a damaged row is `internal`
  // and named by session and sequence (sessionId, sequence in the details). Over all sessions it is
  // given with its damage instead, so that one row does not stand in the way of every session.
  // not_found: no such session. An `after` at or past the last one gives an empty page. An erased
  // payload reads as {"erased":true}.
  virtual Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                            std::size_t events_max, std::size_t bytes_max) = 0;
  // These events of a session, in the order asked for; `internal` where one is missing. One read
  // after the other, unless a store can do better.
  virtual Result<std::vector<Event>> events_at(const SessionId& session,
                                               std::span<const Sequence> sequences);
  virtual Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                                std::size_t bytes_max) = 0;
  // The session's last sequence; 0 when there is no such session.
  virtual Result<Sequence> head(const SessionId& session) = 0;
  virtual Result<Position> last_position() = 0;

  // None as well when the stored one does not match its checksum: it can be made again.
  virtual Result<std::optional<Snapshot>> snapshot(const SessionId& session) = 0;
  virtual Result<std::optional<IndexEntry>> find(const std::string& kind,
                                                 const std::string& id) = 0;
  virtual Result<std::vector<IndexEntry>> list(const IndexQuery& query) = 0;
  // Sessions with an open index row, oldest first.
  virtual Result<std::vector<SessionId>> open_sessions() = 0;
  virtual Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                               const std::string& key) = 0;

  // Drops idempotency records older than `before`, at most `max`; returns how many. With commit().
  virtual Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) = 0;
  // Throws away one session's index rows and snapshot and derives the rows from its log again.
  // `indexer` is called with every event in order, from the first. With commit().
  virtual Result<void> rebuild(const SessionId& session, const Indexer& indexer) = 0;

  // Packs runs of fragments that are over, where the store packs at all; looks at about `rows_max`
  // rows. True: there is more to look at. What is read does not change. With commit().
  virtual Result<bool> pack(std::size_t rows_max) = 0;
  // Nothing waits to be committed: a store may do now what makes the next commit cheaper. With
  // commit().
  virtual void make_room() = 0;

  virtual const RuntimeId& runtime() const = 0;  // stable for the store's life
  virtual const GenerationId& generation() const = 0;
  virtual const std::string& hash_key() const = 0;  // 32 secret bytes for params hashes
};

}  // namespace agentrt::store
