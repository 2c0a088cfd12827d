// store/memory/memory_store.h: a store without a disk, for tests and simulation.
//
// What is committed lives on a MemoryDisk, which may outlive the store: destroying a MemoryStore
// and opening another on the same disk is a crash that keeps exactly what was committed. Stored
// bytes and hashes are kept and checked on read as the SQLite store does.
//
// Threads: as store/store.h asks; one lock per disk.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/identity.h"
#include "store/store.h"

namespace agentrt::store {

class MemoryDisk {
 public:
  explicit MemoryDisk(Identity identity) : identity_(std::move(identity)) {}

  // Changes a byte of the stored payload, as a failing medium would.
  void damage(const SessionId& session, Sequence sequence);
  // Erases the payload and leaves its SHA-256.
  void erase_payload(const SessionId& session, Sequence sequence);

 private:
  friend class MemoryStore;

  struct Row {
    schema::StoredEvent event;
    std::optional<Digest> erased;  // the SHA-256 of a payload that is gone
    Digest hash{};
  };
  struct Session {
    std::uint64_t order = 0;
    std::vector<std::size_t> rows;  // places in log_, by sequence
    std::optional<Snapshot> snapshot;
  };
  using ObjectKey = std::pair<std::string, std::string>;  // kind, id
  // kind, session order, first, id: the order of lists.
  using Place = std::tuple<std::string, std::uint64_t, Sequence, std::string>;

  void put(const SessionId& session, std::uint64_t order, const IndexRow& row);
  std::optional<Error> refuse(const Append& append) const;
  Position apply(const Append& append);
  Digest predecessor(const Session& session, Sequence sequence) const;
  Result<Event> read(const SessionId& id, const Session& session, std::size_t place) const;

  std::mutex mutex_;
  Identity identity_;
  std::vector<Row> log_;  // by position, from 1
  std::map<SessionId, Session> sessions_;
  std::vector<SessionId> by_order_;
  std::map<ObjectKey, IndexEntry> objects_;
  std::set<Place> places_;
  std::map<std::pair<std::string, std::string>, IdempotencyRecord> idempotency_;
};

class MemoryStore final : public Store {
 public:
  // A disk of its own, or one that earlier stores wrote.
  MemoryStore();
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

  // The next commit() writes nothing and answers every append with `error`.
  void fail_next(Error error) { fail_next_ = std::move(error); }
  const std::shared_ptr<MemoryDisk>& disk() const { return disk_; }

  std::vector<Result<Position>> commit(std::span<const Append> appends) override;
  Result<std::vector<Event>> events(const SessionId& session, Sequence after,
                                    std::size_t events_max, std::size_t bytes_max) override;
  Result<std::vector<Event>> all_events(Position after, std::size_t events_max,
                                        std::size_t bytes_max) override;
  Result<Sequence> head(const SessionId& session) override;
  Result<Position> last_position() override;
  Result<std::optional<Snapshot>> snapshot(const SessionId& session) override;
  Result<std::optional<IndexEntry>> find(const std::string& kind, const std::string& id) override;
  Result<std::vector<IndexEntry>> list(const IndexQuery& query) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::optional<IdempotencyRecord>> idempotency(const std::string& principal,
                                                       const std::string& key) override;
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) override;
  Result<void> rebuild(const SessionId& session, const Indexer& indexer) override;

  const RuntimeId& runtime() const override { return disk_->identity_.runtime; }
  const GenerationId& generation() const override { return disk_->identity_.generation; }
  const std::string& hash_key() const override { return disk_->identity_.hash_key; }

 private:
  std::shared_ptr<MemoryDisk> disk_;
  std::optional<Error> fail_next_;  // commit()'s thread only
};

}  // namespace agentrt::store
