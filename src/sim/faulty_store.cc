#include "sim/faulty_store.h"

#include <utility>

namespace agentrt::sim {
namespace {

bool use_up(std::size_t& left) {
  if (left == 0) return false;
  --left;
  return true;
}

}  // namespace

std::vector<Result<store::Position>> FaultyStore::commit(std::span<const store::Append> appends) {
  const auto all_fail = [&](Code code, const char* why) {
    return std::vector<Result<store::Position>>(appends.size(), fail(code, why));
  };
  if (faults_.stopped) return all_fail(Code::unavailable, "the power is gone");
  if (use_up(faults_.full_commits)) return all_fail(Code::storage_full, "the disk is full");
  if (use_up(faults_.failing_commits)) return all_fail(Code::unavailable, "the disk fails");
  using Outage = DiskFaults::Outage;
  const Outage outage = std::exchange(faults_.in_next_commit, Outage::none);
  if (outage == Outage::none) return commit_undamaged(appends);
  faults_.stopped = true;
  if (outage == Outage::before_write) return all_fail(Code::unavailable, "the power is gone");
  if (outage == Outage::before_sync) disk_.withhold_sync();
  return inner().commit(appends);
}

// Like a real store, refuses only the append that finds damage.
std::vector<Result<store::Position>> FaultyStore::commit_undamaged(
    std::span<const store::Append> appends) {
  if (!faults_.damaged) return inner().commit(appends);
  std::vector<Result<store::Position>> results;
  for (const store::Append& append : appends) {
    if (append.session == *faults_.damaged)
      results.push_back(fail(Code::internal, "the store file is damaged"));
    else
      results.push_back(inner().commit({&append, 1}).front());
  }
  return results;
}

std::optional<Error> FaultyStore::read_error() {
  if (!use_up(faults_.failing_reads)) return std::nullopt;
  return Error{Code::unavailable, "the disk cannot be read", {}};
}

Result<std::vector<store::Event>> FaultyStore::events(const SessionId& session, Sequence after,
                                                      std::size_t events_max,
                                                      std::size_t bytes_max) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().events(session, after, events_max, bytes_max);
}

Result<Sequence> FaultyStore::head(const SessionId& session) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().head(session);
}

Result<std::optional<store::Snapshot>> FaultyStore::snapshot(const SessionId& session) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().snapshot(session);
}

Result<std::optional<store::IndexEntry>> FaultyStore::find(const std::string& kind,
                                                           const std::string& id) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().find(kind, id);
}

Result<std::vector<store::IndexEntry>> FaultyStore::list(const store::IndexQuery& query) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().list(query);
}

Result<std::vector<store::IndexEntry>> FaultyStore::due(std::size_t limit) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().due(limit);
}

Result<std::vector<SessionId>> FaultyStore::open_sessions() {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().open_sessions();
}

Result<std::optional<store::IdempotencyRecord>> FaultyStore::idempotency(
    const std::string& principal, const std::string& key) {
  if (auto error = read_error()) return std::unexpected(*error);
  return inner().idempotency(principal, key);
}

Result<std::vector<schema::ChannelCursor>> FaultyStore::cursors(
    std::span<const ChannelId> channels) {
  if (auto error = read_error()) return std::unexpected(*std::move(error));
  return inner().cursors(channels);
}

Result<std::size_t> FaultyStore::forget_idempotency(Timestamp before, std::size_t max) {
  if (faults_.stopped) return 0;
  return inner().forget_idempotency(before, max);
}

}  // namespace agentrt::sim
