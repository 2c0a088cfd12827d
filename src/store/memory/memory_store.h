// store/memory/memory_store.h: an in-memory store, for tests and simulation.
//
// Committed data lives on a MemoryDisk, which may outlive the store: destroying a MemoryStore and
// opening another on the same disk simulates a crash that keeps exactly the committed data. Bytes
// and hashes are stored and verified on read as in the SQLite store.
//
// A commit writes a batch and syncs it. A test may withhold the sync: reads then see the written
// batches, and cut_power() decides for each piece of each batch whether it reached the medium. An
// incomplete batch is dropped as a whole, and so is every later batch, like a store that recovers
// from its journal.
//
// Threads: as in store/store.h; one lock per disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "store/identity.h"
#include "store/memory/index_rows.h"
#include "store/store.h"

namespace agentrt::store {

class MemoryDisk {
 public:
  explicit MemoryDisk(Identity identity) : identity_(std::move(identity)) {}

  // Changes a byte of the stored payload, to simulate a failing medium.
  void damage(const SessionId& session, Sequence sequence);
  // Erases the payload and keeps its SHA-256.
  void erase_payload(const SessionId& session, Sequence sequence);

  // Later commits write but do not sync.
  void withhold_sync();
  // Syncs all written batches, and every later commit.
  void sync();

  // The fate of a piece of an unsynced batch: an append, or the end of the batch.
  enum class Fate { kept, lost, torn };
  struct Outage {
    std::size_t written = 0;      // unsynced batches
    std::size_t kept = 0;         // those of them that survived
    std::size_t torn_pieces = 0;  // found and dropped
  };
  // Simulates a power cut; later commits are synced again. REQUIRES: no store is open on the disk.
  Outage cut_power(const std::function<Fate()>& next_fate);

 private:
  friend class MemoryStore;

  struct Row {
    schema::StoredEvent event;
    std::optional<Digest> erased;  // the SHA-256 of an erased payload
    Digest hash{};
  };
  struct Session {
    std::uint64_t order = 0;
    std::vector<std::size_t> rows;  // indexes into Contents::log, by sequence
    std::map<ThreadId, std::vector<Sequence>> sent;
    std::optional<Snapshot> snapshot;
  };
  struct Contents {
    std::vector<Row> log;  // by position, from 1
    std::map<SessionId, Session> sessions;
    std::vector<SessionId> by_order;
    IndexRows rows;
    std::map<std::pair<std::string, std::string>, IdempotencyRecord> idempotency;
    std::map<ChannelId, schema::ChannelCursor> cursors;
  };

  std::optional<Error> refuse(const Append& append) const;
  Position apply(const Append& append);
  static Position position_of(const Session& session, Sequence sequence);
  void apply_beside(const Append& append);
  Digest predecessor(const Session& session, Sequence sequence) const;
  Result<Event> read(const SessionId& id, const Session& session, std::size_t place) const;

  std::mutex mutex_;
  Identity identity_;
  Contents now_;                    // what reads see
  std::optional<Contents> synced_;  // while syncs are withheld: the state at the last sync
  std::vector<std::vector<Append>> unsynced_;
};

class MemoryStore final : public Store {
 public:
  // Uses a new disk, or one that earlier stores wrote.
  MemoryStore();
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

  // Makes the next commit() write nothing and return `error` for every append.
  void fail_next(Error error) { fail_next_ = std::move(error); }
  const std::shared_ptr<MemoryDisk>& disk() const { return disk_; }

  std::vector<Result<Position>> commit(std::span<const Append> appends) override;
  Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                    std::size_t events_max, std::size_t bytes_max) override;
  Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                     Sequence after, Sequence up_to, std::size_t max) override;
  Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                        std::size_t bytes_max) override;
  Result<Sequence> head(const SessionId& session) override;
  Result<Position> last_position() override;
  Result<std::optional<Snapshot>> snapshot(const SessionId& session) override;
  Result<std::optional<IndexEntry>> find(const std::string& kind, const std::string& id) override;
  Result<std::vector<OldSnapshot>> old_snapshots(std::uint64_t fold_version, std::uint64_t after,
                                                 std::size_t limit) override;
  Result<std::vector<IndexEntry>> list(const IndexQuery& query) override;
  Result<std::uint64_t> count(const IndexQuery& query) override;
  Result<std::vector<IndexEntry>> due(std::size_t limit) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                       const std::string& key) override;
  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels) override;
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) override;
  Result<void> rebuild(const SessionId& session, const Indexer& indexer) override;
  Result<bool> pack(std::size_t) override { return false; }
  void make_room() override {}

  const RuntimeId& runtime() const override { return disk_->identity_.runtime; }
  const GenerationId& generation() const override { return disk_->identity_.generation; }
  const std::string& hash_key() const override { return disk_->identity_.hash_key; }

 private:
  std::shared_ptr<MemoryDisk> disk_;
  std::optional<Error> fail_next_;  // commit()'s thread only
};

}  // namespace agentrt::store
