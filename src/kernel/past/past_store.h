// kernel/past/past_store.h: a store as one session left it when an earlier fact was its last one.
//
// The store below it keeps index rows as they are now. This one answers with rows that were derived
// again from the facts up to that moment, and with no later fact. So the reads that make replies
// from a view and a store need no second version for the past. It knows one session and writes
// nothing. Threads: those of the store below.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "state/index.h"
#include "store/memory/index_rows.h"
#include "store/store.h"

namespace agentrt::kernel {

// The window of turns that a reply shows: the newest `limit` before `before`, of one thread or of
// all. Rows of other turns are not kept, because a session may have very many.
struct PastTurns {
  std::optional<Sequence> before;
  std::optional<ThreadId> thread;
  std::size_t limit = 0;
};

class PastStore final : public store::Store {
 public:
  // `below` must outlive this store. `at`: the sequence of the last fact.
  PastStore(store::Store& below, SessionId session, Sequence at, PastTurns turns);

  // Keeps a row that a fact caused, instead of an earlier one of the same object. Rows of kinds
  // that no snapshot or read model lists are dropped.
  void put(state::ObjectRow row);
  // Lists what was put. Call it once, after the last put() and before the first read.
  void finish();

  Result<std::vector<store::Event>> events(const SessionId& session, Sequence after,
                                           std::size_t events_max, std::size_t bytes_max) override;
  Result<std::vector<store::Event>> events_at(const SessionId& session,
                                              std::span<const Sequence> sequences) override;
  Result<std::vector<Sequence>> sent(const SessionId& session, const ThreadId& thread,
                                     Sequence after, Sequence up_to, std::size_t max) override;
  Result<Sequence> head(const SessionId& session) override;
  Result<std::optional<store::IndexEntry>> find(const std::string& kind,
                                                const std::string& id) override;
  Result<std::vector<store::IndexEntry>> list(const store::IndexQuery& query) override;
  Result<std::uint64_t> count(const store::IndexQuery& query) override;
  // None: acknowledgements are beside the log, so the past has only those that facts name.
  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels) override;
  const RuntimeId& runtime() const override { return below_.runtime(); }
  const GenerationId& generation() const override { return below_.generation(); }
  const std::string& hash_key() const override { return below_.hash_key(); }

  // --- no part of a session's past: a call ends the process ---

  std::vector<Result<store::Position>> commit(std::span<const store::Append> appends) override;
  Result<std::vector<store::Event>> all_events(store::Position after, std::size_t events_max,
                                               std::size_t bytes_max) override;
  Result<store::Position> last_position() override;
  Result<std::optional<store::Snapshot>> snapshot(const SessionId& session) override;
  Result<std::vector<OldSnapshot>> old_snapshots(std::uint64_t fold_version, std::uint64_t after,
                                                 std::size_t limit) override;
  Result<std::vector<store::IndexEntry>> due(std::size_t limit) override;
  Result<std::vector<SessionId>> open_sessions() override;
  Result<std::optional<store::IdempotencyRecord>> idempotency(const std::string& principal,
                                                              const std::string& key) override;
  Result<std::size_t> forget_idempotency(Timestamp before, std::size_t max) override;
  Result<void> rebuild(const SessionId& session, const store::Indexer& indexer) override;
  Result<bool> pack(std::size_t rows_max) override;
  void make_room() override;

 private:
  void put_turn(state::ObjectRow row);

  store::Store& below_;
  const SessionId session_;
  const Sequence at_;
  const PastTurns turns_wanted_;
  std::unordered_map<std::string, state::ObjectRow> put_;               // by kind and id
  std::map<std::pair<Sequence, std::string>, state::ObjectRow> turns_;  // by first and id
  store::IndexRows rows_;
};

}  // namespace agentrt::kernel
