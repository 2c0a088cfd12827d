// sim/faulty_store.h: a store on a simulated disk that is full, fails, or loses power during a
// commit.
//
// DiskFaults outlives boots, like a disk, and describes the faults of the next calls. If power
// fails during a commit, the result of that commit must not be used: the current step is the last
// of the process. The caller that runs the steps checks `stopped` and then ends the node.
#pragma once

#include "sim/store_over.h"
#include "store/memory/memory_store.h"

namespace agentrt::sim {

struct DiskFaults {
  enum class Outage { none, before_write, before_sync, after_sync };

  std::size_t full_commits = 0;
  std::size_t failing_commits = 0;
  std::size_t failing_reads = 0;
  std::optional<SessionId> damaged;  // appends to this session find damage
  Outage in_next_commit = Outage::none;
  bool stopped = false;
};

class FaultyStore final : public StoreOver {
 public:
  FaultyStore(store::Store& inner, store::MemoryDisk& disk, DiskFaults& faults)
      : StoreOver(inner), disk_(disk), faults_(faults) {}

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override;
  Result<std::vector<store::Event>> events(const SessionId& session, Sequence after,
                                           std::size_t events_max, std::size_t bytes_max) override;
  Result<Sequence> head(const SessionId& session) override;
  Result<std::optional<store::Snapshot>> snapshot(const SessionId& session) override;
  Result<std::optional<store::IndexEntry>> find(const std::string& kind,
                                                const std::string& id) override;
  Result<std::vector<store::IndexEntry>> list(const store::IndexQuery& query) override;
  Result<std::vector<store::IndexEntry>> due(std::size_t limit) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::optional<store::IdempotencyRecord>> idempotency(const std::string& principal,
                                                              const std::string& key) override;
  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels) override;
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) override;

 private:
  std::vector<Result<store::Position>> commit_undamaged(std::span<const store::Append> appends);
  // The error of the next read, if it is to fail.
  std::optional<Error> read_error();

  store::MemoryDisk& disk_;
  DiskFaults& faults_;
};

}  // namespace agentrt::sim
