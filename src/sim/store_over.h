// sim/store_over.h: a store that forwards every call to another store. Base class for stores that
// intercept some calls.
#pragma once

#include "store/store.h"

namespace agentrt::sim {

class StoreOver : public store::Store {
 public:
  explicit StoreOver(store::Store& inner) : inner_(inner) {}

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override {
    return inner_.commit(appends);
  }
  Result<std::vector<store::Event>> events(const SessionId& session, Sequence after,
                                           std::size_t events_max, std::size_t bytes_max) override {
    return inner_.events(session, after, events_max, bytes_max);
  }
  Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                     Sequence after, Sequence up_to, std::size_t max) override {
    return inner_.sent(session, thread, after, up_to, max);
  }
  Result<std::vector<store::Event>> all_events(store::Position after, std::size_t events_max,
                                               std::size_t bytes_max) override {
    return inner_.all_events(after, events_max, bytes_max);
  }
  Result<Sequence> head(const SessionId& session) override { return inner_.head(session); }
  Result<store::Position> last_position() override { return inner_.last_position(); }
  Result<std::optional<store::Snapshot>> snapshot(const SessionId& session) override {
    return inner_.snapshot(session);
  }
  Result<std::optional<store::IndexEntry>> find(const std::string& kind,
                                                const std::string& id) override {
    return inner_.find(kind, id);
  }
  Result<std::vector<store::IndexEntry>> list(const store::IndexQuery& query) override {
    return inner_.list(query);
  }
  Result<std::uint64_t> count(const store::IndexQuery& query) override {
    return inner_.count(query);
  }
  Result<std::vector<OldSnapshot>> old_snapshots(std::uint64_t fold_version, std::uint64_t after,
                                                 std::size_t limit) override {
    return inner_.old_snapshots(fold_version, after, limit);
  }
  Result<std::vector<store::IndexEntry>> due(std::size_t limit) override {
    return inner_.due(limit);
  }
  Result<std::vector<SessionId>> open_sessions() override { return inner_.open_sessions(); }
  Result<std::optional<store::IdempotencyRecord>> idempotency(const std::string& principal,
                                                              const std::string& key) override {
    return inner_.idempotency(principal, key);
  }
  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels) override {
    return inner_.cursors(channels);
  }
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) override {
    return inner_.forget_idempotency(before, max);
  }
  Result<void> rebuild(const SessionId& session, const store::Indexer& indexer) override {
    return inner_.rebuild(session, indexer);
  }
  Result<bool> pack(std::size_t rows_max) override { return inner_.pack(rows_max); }
  void make_room() override { inner_.make_room(); }
  const RuntimeId& runtime() const override { return inner_.runtime(); }
  const GenerationId& generation() const override { return inner_.generation(); }
  const std::string& hash_key() const override { return inner_.hash_key(); }

 protected:
  store::Store& inner() { return inner_; }

 private:
  store::Store& inner_;
};

}  // namespace agentrt::sim
