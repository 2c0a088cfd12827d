#include "store/memory/memory_store.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "store/row_check.h"

namespace agentrt::store {
namespace {

std::shared_ptr<MemoryDisk> disk_of_its_own() {
  return std::make_shared<MemoryDisk>(
      fresh_identity(Timestamp{0}, [](std::size_t count) { return std::string(count, 'm'); }));
}

// Adds the event unless the page is full; says whether it went in.
bool add_to_page(std::vector<Event>& page, std::size_t& bytes, std::size_t bytes_max, Event event) {
  bytes += page_bytes(event.event);
  if (!page.empty() && bytes > bytes_max) return false;
  page.push_back(std::move(event));
  return true;
}

}  // namespace

void MemoryDisk::damage(const SessionId& session, Sequence sequence) {
  std::lock_guard lock(mutex_);
  std::string& payload = log_[sessions_.at(session).rows.at(sequence - 1)].event.payload;
  check(!payload.empty(), "a stored payload has bytes");
  payload[payload.size() / 2] ^= 1;
}

void MemoryDisk::erase_payload(const SessionId& session, Sequence sequence) {
  std::lock_guard lock(mutex_);
  Row& row = log_[sessions_.at(session).rows.at(sequence - 1)];
  row.erased = sha256(row.event.payload);
  row.event.payload = kErasedPayload;
}

void MemoryDisk::put(const SessionId& session, std::uint64_t order, const IndexRow& row) {
  IndexEntry& entry = objects_[{row.kind, row.id}];
  if (entry.session_order != 0) places_.erase({row.kind, order, entry.row.first, row.id});
  entry = IndexEntry{session, order, row};
  places_.insert({row.kind, order, row.first, row.id});
}

std::optional<Error> MemoryDisk::refuse(const Append& append) const {
  const auto session = sessions_.find(append.session);
  const Sequence head = session == sessions_.end() ? 0 : session->second.rows.size();
  if (head != append.expected) return sequence_conflict(append, head);
  for (const IdempotencyRecord& record : append.idempotency)
    if (idempotency_.contains({record.principal, record.key})) return key_taken(record);
  for (const IndexRow& row : append.index) {
    const auto object = objects_.find({row.kind, row.id});
    if (object != objects_.end() && object->second.session != append.session) return row_taken(row);
  }
  return std::nullopt;
}

Position MemoryDisk::apply(const Append& append) {
  Session& session = sessions_[append.session];
  if (session.order == 0) {
    by_order_.push_back(append.session);
    session.order = by_order_.size();
  }
  const Position first = log_.size() + 1;
  for (const schema::StoredEvent& event : append.events) {
    const Digest previous = predecessor(session, event.sequence);
    session.rows.push_back(log_.size());
    log_.push_back({event, std::nullopt, schema::chain(previous, event)});
  }
  for (const IndexRow& row : append.index) put(append.session, session.order, row);
  for (const IdempotencyRecord& record : append.idempotency)
    idempotency_.insert({{record.principal, record.key}, record});
  if (append.snapshot) session.snapshot = append.snapshot;
  return first;
}

Digest MemoryDisk::predecessor(const Session& session, Sequence sequence) const {
  return sequence == 1 ? kNoPredecessor : log_[session.rows[sequence - 2]].hash;
}

Result<Event> MemoryDisk::read(const SessionId& id, const Session& session,
                               std::size_t place) const {
  const Row& row = log_[place];
  const Digest previous = predecessor(session, row.event.sequence);
  const Digest hash = row.erased ? chain_erased(previous, row.event, *row.erased)
                                 : schema::chain(previous, row.event);
  if (hash != row.hash)
    return std::unexpected(
        damaged_row(id, row.event.sequence, "its hash does not match its bytes"));
  return Event{place + 1, row.event};
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
  return results;
}

Result<std::vector<Event>> MemoryStore::events(const SessionId& session, Sequence after,
                                               std::size_t events_max, std::size_t bytes_max) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->sessions_.find(session);
  if (found == disk_->sessions_.end()) return std::unexpected(no_such_session(session));
  std::vector<Event> page;
  std::size_t bytes = 0;
  const std::vector<std::size_t>& rows = found->second.rows;
  for (std::size_t i = after; i < rows.size() && page.size() < events_max; ++i) {
    TRY_ASSIGN(Event event, disk_->read(session, found->second, rows[i]));
    if (!add_to_page(page, bytes, bytes_max, std::move(event))) break;
  }
  return page;
}

Result<std::vector<Event>> MemoryStore::all_events(Position after, std::size_t events_max,
                                                   std::size_t bytes_max) {
  std::lock_guard lock(disk_->mutex_);
  std::vector<Event> page;
  std::size_t bytes = 0;
  for (std::size_t i = after; i < disk_->log_.size() && page.size() < events_max; ++i) {
    const SessionId& session = disk_->log_[i].event.session;
    auto event = disk_->read(session, disk_->sessions_.at(session), i);
    if (!event) return std::unexpected(at_position(std::move(event).error(), i + 1));
    if (!add_to_page(page, bytes, bytes_max, std::move(*event))) break;
  }
  return page;
}

Result<Sequence> MemoryStore::head(const SessionId& session) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->sessions_.find(session);
  return found == disk_->sessions_.end() ? 0 : found->second.rows.size();
}

Result<Position> MemoryStore::last_position() {
  std::lock_guard lock(disk_->mutex_);
  return disk_->log_.size();
}

Result<std::optional<Snapshot>> MemoryStore::snapshot(const SessionId& session) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->sessions_.find(session);
  if (found == disk_->sessions_.end()) return std::nullopt;
  return found->second.snapshot;
}

Result<std::optional<IndexEntry>> MemoryStore::find(const std::string& kind,
                                                    const std::string& id) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->objects_.find({kind, id});
  if (found == disk_->objects_.end()) return std::nullopt;
  return found->second;
}

Result<std::vector<IndexEntry>> MemoryStore::list(const IndexQuery& query) {
  TRY(check_query(query));
  std::lock_guard lock(disk_->mutex_);
  std::uint64_t order = 0;
  if (query.session) {
    const auto found = disk_->sessions_.find(*query.session);
    if (found == disk_->sessions_.end()) return std::vector<IndexEntry>{};
    order = found->second.order;
  }
  constexpr std::uint64_t kPastAll = ~std::uint64_t{0};
  MemoryDisk::Place before{query.kind, kPastAll, 0, ""};
  if (query.session)
    before = {query.kind, order, query.before.value_or(kPastAll), query.before_id};
  else if (query.before)
    before = {query.kind, *query.before, query.before_first, query.before_id};

  std::vector<IndexEntry> entries;
  auto at = disk_->places_.lower_bound(before);
  while (at != disk_->places_.begin() && entries.size() < query.limit) {
    --at;
    const auto& [kind, owner, first, id] = *at;
    if (kind != query.kind || (query.session && owner != order)) break;
    const IndexEntry& entry = disk_->objects_.at({kind, id});
    if (!query.parent || entry.row.parent == *query.parent) entries.push_back(entry);
  }
  return entries;
}

Result<std::vector<SessionId>> MemoryStore::open_sessions() {
  std::lock_guard lock(disk_->mutex_);
  std::set<std::uint64_t> orders;
  for (const auto& [key, entry] : disk_->objects_)
    if (entry.row.open) orders.insert(entry.session_order);
  std::vector<SessionId> sessions;
  for (const std::uint64_t order : orders) sessions.push_back(disk_->by_order_[order - 1]);
  return sessions;
}

Result<std::optional<IdempotencyRecord>> MemoryStore::idempotency(const std::string& principal,
                                                                  const std::string& key) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->idempotency_.find({principal, key});
  if (found == disk_->idempotency_.end()) return std::nullopt;
  return found->second;
}

Result<std::size_t> MemoryStore::forget_idempotency(Timestamp before, std::size_t max) {
  std::lock_guard lock(disk_->mutex_);
  std::size_t forgotten = 0;
  for (auto at = disk_->idempotency_.begin(); at != disk_->idempotency_.end() && forgotten < max;) {
    if (at->second.at < before) {
      at = disk_->idempotency_.erase(at);
      ++forgotten;
    } else {
      ++at;
    }
  }
  return forgotten;
}

Result<void> MemoryStore::rebuild(const SessionId& session, const Indexer& indexer) {
  std::lock_guard lock(disk_->mutex_);
  const auto found = disk_->sessions_.find(session);
  if (found == disk_->sessions_.end()) return std::unexpected(no_such_session(session));
  std::vector<IndexRow> rows;
  for (const std::size_t place : found->second.rows) {
    TRY_ASSIGN(Event event, disk_->read(session, found->second, place));
    for (IndexRow& row : indexer(event.event)) {
      const auto object = disk_->objects_.find({row.kind, row.id});
      if (object != disk_->objects_.end() && object->second.session != session)
        return std::unexpected(row_taken(row));
      rows.push_back(std::move(row));
    }
  }
  std::erase_if(disk_->places_, [&](const MemoryDisk::Place& place) {
    return std::get<1>(place) == found->second.order;
  });
  std::erase_if(disk_->objects_,
                [&](const auto& object) { return object.second.session == session; });
  for (const IndexRow& row : rows) disk_->put(session, found->second.order, row);
  found->second.snapshot.reset();
  return {};
}

}  // namespace agentrt::store
