#include "store/memory/memory_store.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "schema/sent.h"
#include "store/row_check.h"

namespace agentrt::store {
namespace {

std::shared_ptr<MemoryDisk> disk_of_its_own() {
  return std::make_shared<MemoryDisk>(
      fresh_identity(Timestamp{0}, [](std::size_t count) { return std::string(count, 'm'); }));
}

// Adds the event unless the page is full. Returns whether it was added.
bool add_to_page(std::vector<Event>& page, std::size_t& bytes, std::size_t bytes_max, Event event) {
  bytes += page_bytes(event.event);
  if (!page.empty() && bytes > bytes_max) return false;
  page.push_back(std::move(event));
  return true;
}

}  // namespace

void MemoryDisk::damage(const SessionId& session, Sequence sequence) {
  std::lock_guard lock(mutex_);
  std::string& payload = now_.log[now_.sessions.at(session).rows.at(sequence - 1)].event.payload;
  check(!payload.empty(), "a stored payload has bytes");
  payload[payload.size() / 2] ^= 1;
}

void MemoryDisk::erase_payload(const SessionId& session, Sequence sequence) {
  std::lock_guard lock(mutex_);
  Row& row = now_.log[now_.sessions.at(session).rows.at(sequence - 1)];
  row.erased = sha256(row.event.payload);
  row.event.payload = kErasedPayload;
}

void MemoryDisk::withhold_sync() {
  std::lock_guard lock(mutex_);
  if (!synced_) synced_ = now_;
}

void MemoryDisk::sync() {
  std::lock_guard lock(mutex_);
  synced_.reset();
  unsynced_.clear();
}

MemoryDisk::Outage MemoryDisk::cut_power(const std::function<Fate()>& next_fate) {
  std::lock_guard lock(mutex_);
  Outage outage;
  if (!synced_) return outage;
  now_ = *std::exchange(synced_, std::nullopt);
  const std::vector<std::vector<Append>> written = std::exchange(unsynced_, {});
  outage.written = written.size();
  bool whole = true;  // all batches so far are complete
  for (const std::vector<Append>& batch : written) {
    // The last piece is the end of the batch.
    for (std::size_t piece = 0; piece < batch.size() + 1; ++piece) {
      const Fate fate = next_fate();
      if (fate == Fate::torn) ++outage.torn_pieces;
      if (fate != Fate::kept) whole = false;
    }
    if (!whole) continue;
    for (const Append& append : batch) apply(append);
    ++outage.kept;
  }
  return outage;
}

std::optional<Error> MemoryDisk::refuse(const Append& append) const {
  if (append.beside_log()) return std::nullopt;
  const auto session = now_.sessions.find(append.session);
  const Sequence head = session == now_.sessions.end() ? 0 : session->second.rows.size();
  if (head != append.expected) return sequence_conflict(append, head);
  for (const IdempotencyRecord& record : append.idempotency)
    if (now_.idempotency.contains({record.principal, record.key})) return key_taken(record);
  for (const IndexRow& row : append.index) {
    const IndexEntry* object = now_.rows.find(row.kind, row.id);
    if (object != nullptr && object->session != append.session) return row_taken(row);
  }
  return std::nullopt;
}

void MemoryDisk::apply_beside(const Append& append) {
  for (schema::ChannelCursor cursor : append.cursors) {
    schema::ChannelCursor& stored = now_.cursors[cursor.channel];
    if (stored.generation == cursor.generation)
      cursor.acknowledged = std::max(cursor.acknowledged, stored.acknowledged);
    stored = std::move(cursor);
  }
  for (const ChannelId& channel : append.cursors_dropped) now_.cursors.erase(channel);
  for (const Acknowledgement& each : append.acknowledged) {
    const auto found = now_.cursors.find(each.channel);
    if (found == now_.cursors.end() || found->second.generation != each.generation) continue;
    found->second.acknowledged = std::max(found->second.acknowledged, each.sequence);
    found->second.seen_at = each.at;
  }
}

Position MemoryDisk::apply(const Append& append) {
  apply_beside(append);
  if (append.beside_log()) return now_.log.size() + 1;
  Session& session = now_.sessions[append.session];
  if (session.order == 0) {
    now_.by_order.push_back(append.session);
    session.order = now_.by_order.size();
  }
  const Position first = now_.log.size() + 1;
  for (const schema::StoredEvent& event : append.events) {
    const Digest previous = predecessor(session, event.sequence);
    session.rows.push_back(now_.log.size());
    now_.log.push_back({event, std::nullopt, schema::chain(previous, event)});
    if (const auto thread = schema::sent_in(event)) session.sent[*thread].push_back(event.sequence);
  }
  for (const IndexRow& row : append.index)
    now_.rows.put({append.session, session.order, row, position_of(session, row.changed)});
  for (const IdempotencyRecord& record : append.idempotency)
    now_.idempotency.insert({{record.principal, record.key}, record});
  if (append.snapshot) session.snapshot = append.snapshot;
  return first;
}

Position MemoryDisk::position_of(const Session& session, Sequence sequence) {
  return sequence == 0 ? 0 : session.rows.at(sequence - 1) + 1;
}

Digest MemoryDisk::predecessor(const Session& session, Sequence sequence) const {
  return sequence == 1 ? kNoPredecessor : now_.log[session.rows[sequence - 2]].hash;
}

Result<Event> MemoryDisk::read(const SessionId& id, const Session& session,
                               std::size_t place) const {
  const Row& row = now_.log[place];
  const Digest previous = predecessor(session, row.event.sequence);
  const Digest hash = row.erased ? chain_erased(previous, row.event, *row.erased)
                                 : schema::chain(previous, row.event);
  if (hash != row.hash)
    return std::unexpected(
        damaged_row(id, row.event.sequence, "its hash does not match its bytes"));
  return Event{place + 1, row.event, {}, row.hash};
}

MemoryStore::MemoryStore() : disk_(disk_of_its_own()) {}

std::vector<Result<Position>> MemoryStore::commit(std::span<const Append> appends) {
  std::lock_guard lock(disk_->mutex_);
  std::vector<Result<Position>> results;
  results.reserve(appends.size());
  const std::optional<Error> failure = std::exchange(fail_next_, std::nullopt);
  for (const Append& append : appends) {
    check_append(append);
    if (failure)
      results.push_back(std::unexpected(*failure));
    else if (auto refused = disk_->refuse(append))
      results.push_back(std::unexpected(std::move(*refused)));
    else
      results.push_back(disk_->apply(append));
  }
  if (!failure && disk_->synced_) {
    std::vector<Append>& batch = disk_->unsynced_.emplace_back();
    for (std::size_t i = 0; i < appends.size(); ++i)
      if (results[i]) batch.push_back(appends[i]);
  }
  return results;
}

Result<std::vector<Event>> MemoryStore::events(const SessionId& session, Sequence after,
                                               std::size_t events_max, std::size_t bytes_max) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.sessions.find(session);
  if (found == disk_->now_.sessions.end()) return std::unexpected(no_such_session(session));
  std::vector<Event> page;
  std::size_t bytes = 0;
  const std::vector<std::size_t>& rows = found->second.rows;
  for (std::size_t i = after; i < rows.size() && page.size() < events_max; ++i) {
    TRY_ASSIGN(Event event, disk_->read(session, found->second, rows[i]));
    if (!add_to_page(page, bytes, bytes_max, std::move(event))) break;
  }
  return page;
}

Result<std::vector<Sequence>> MemoryStore::sent(const SessionId& session, const ThreadId& thread,
                                                Sequence after, Sequence up_to, std::size_t max) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.sessions.find(session);
  if (found == disk_->now_.sessions.end()) return std::unexpected(no_such_session(session));
  std::vector<Sequence> out;
  const auto of_thread = found->second.sent.find(thread);
  if (of_thread == found->second.sent.end()) return out;
  const std::vector<Sequence>& all = of_thread->second;
  for (auto at = std::ranges::upper_bound(all, after); at != all.end() && out.size() < max; ++at)
    if (*at <= up_to) out.push_back(*at);
  return out;
}

Result<std::vector<Event>> MemoryStore::all_events(Position after, std::size_t events_max,
                                                   std::size_t bytes_max) {
  std::lock_guard lock(disk_->mutex_);
  std::vector<Event> page;
  std::size_t bytes = 0;
  for (std::size_t i = after; i < disk_->now_.log.size() && page.size() < events_max; ++i) {
    const SessionId& session = disk_->now_.log[i].event.session;
    const schema::StoredEvent& row = disk_->now_.log[i].event;
    auto event = disk_->read(session, disk_->now_.sessions.at(session), i);
    if (!event) event = *stand_in(i + 1, session, row.sequence, row.at, event.error());
    if (!add_to_page(page, bytes, bytes_max, std::move(*event))) break;
  }
  return page;
}

Result<Sequence> MemoryStore::head(const SessionId& session) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.sessions.find(session);
  return found == disk_->now_.sessions.end() ? 0 : found->second.rows.size();
}

Result<Position> MemoryStore::last_position() {
  std::lock_guard lock(disk_->mutex_);
  return disk_->now_.log.size();
}

Result<std::optional<Snapshot>> MemoryStore::snapshot(const SessionId& session) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.sessions.find(session);
  if (found == disk_->now_.sessions.end()) return std::nullopt;
  return found->second.snapshot;
}

Result<std::optional<IndexEntry>> MemoryStore::find(const std::string& kind,
                                                    const std::string& id) {
  std::lock_guard lock(disk_->mutex_);
  const IndexEntry* found = disk_->now_.rows.find(kind, id);
  if (found == nullptr) return std::nullopt;
  return *found;
}

Result<std::vector<IndexEntry>> MemoryStore::list(const IndexQuery& query) {
  TRY(check_query(query));
  std::lock_guard lock(disk_->mutex_);
  std::uint64_t order = 0;
  if (query.session) {
    const auto found = disk_->now_.sessions.find(*query.session);
    if (found == disk_->now_.sessions.end()) return std::vector<IndexEntry>{};
    order = found->second.order;
  }
  return disk_->now_.rows.list(query, order);
}

Result<std::uint64_t> MemoryStore::count(const IndexQuery& query) {
  TRY(check_query(query));
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.sessions.find(query.session.value_or(SessionId{}));
  if (found == disk_->now_.sessions.end()) return 0;
  return disk_->now_.rows.count(query, found->second.order);
}

Result<std::vector<Store::OldSnapshot>> MemoryStore::old_snapshots(std::uint64_t fold_version,
                                                                   std::uint64_t after,
                                                                   std::size_t limit) {
  std::lock_guard lock(disk_->mutex_);
  std::map<std::uint64_t, SessionId> found;  // by order
  for (const auto& [id, session] : disk_->now_.sessions)
    if (session.order > after && session.snapshot && session.snapshot->fold_version != fold_version)
      found.emplace(session.order, id);
  std::vector<OldSnapshot> out;
  for (const auto& [order, id] : found)
    if (out.size() < limit) out.push_back({id, order});
  return out;
}

Result<std::vector<IndexEntry>> MemoryStore::due(std::size_t limit) {
  std::lock_guard lock(disk_->mutex_);
  return disk_->now_.rows.due(limit);
}

Result<std::vector<SessionId>> MemoryStore::open_sessions() {
  std::lock_guard lock(disk_->mutex_);
  return disk_->now_.rows.open_sessions();
}

Result<std::optional<IdempotencyRecord>> MemoryStore::idempotency(const std::string& principal,
                                                                  const std::string& key) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.idempotency.find({principal, key});
  if (found == disk_->now_.idempotency.end()) return std::nullopt;
  return found->second;
}

Result<std::vector<schema::ChannelCursor>> MemoryStore::cursors(
    std::span<const ChannelId> channels) {
  std::lock_guard lock(disk_->mutex_);
  std::vector<schema::ChannelCursor> found;
  for (const ChannelId& channel : channels)
    if (const auto at = disk_->now_.cursors.find(channel); at != disk_->now_.cursors.end())
      found.push_back(at->second);
  return found;
}

Result<std::size_t> MemoryStore::forget_idempotency(Timestamp before, std::size_t max) {
  std::lock_guard lock(disk_->mutex_);
  std::size_t forgotten = 0;
  for (auto at = disk_->now_.idempotency.begin();
       at != disk_->now_.idempotency.end() && forgotten < max;) {
    if (at->second.at < before) {
      at = disk_->now_.idempotency.erase(at);
      ++forgotten;
    } else {
      ++at;
    }
  }
  return forgotten;
}

Result<void> MemoryStore::rebuild(const SessionId& session, const Indexer& indexer) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->now_.sessions.find(session);
  if (found == disk_->now_.sessions.end()) return std::unexpected(no_such_session(session));
  IndexRows& rows = disk_->now_.rows;
  std::vector<IndexEntry> derived;
  for (const std::size_t place : found->second.rows) {
    TRY_ASSIGN(Event event, disk_->read(session, found->second, place));
    for (IndexRow& row : indexer(event.event)) {
      const IndexEntry* object = rows.find(row.kind, row.id);
      if (object != nullptr && object->session != session) return std::unexpected(row_taken(row));
      const Position changed_at = row.changed > 0 ? event.position : 0;
      derived.push_back({session, found->second.order, std::move(row), changed_at});
    }
  }
  rows.erase_session(session);
  for (IndexEntry& entry : derived) rows.put(std::move(entry));
  found->second.snapshot.reset();
  return {};
}

}  // namespace agentrt::store
