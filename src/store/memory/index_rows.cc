#include "store/memory/index_rows.h"

#include <limits>

namespace agentrt::store {
namespace {

constexpr std::uint64_t kPastAll = ~std::uint64_t{0};

}  // namespace

void IndexRows::put(IndexEntry entry) {
  const Key key{entry.row.kind, entry.row.id};
  if (const auto old = objects_.find(key); old != objects_.end()) unlist(old->second);
  const IndexRow& row = entry.row;
  places_.insert({row.kind, entry.session_order, row.first, row.id});
  for (const std::string& term : row.terms)
    terms_.insert({row.kind, term, entry.session_order, row.first, row.id});
  if (row.due) due_.insert({*row.due, row.kind, row.id});
  if (entry.changed_at > 0) changed_.insert({row.kind, entry.changed_at, row.id});
  objects_.insert_or_assign(key, std::move(entry));
}

// Removes the row from every list.
void IndexRows::unlist(const IndexEntry& entry) {
  const IndexRow& row = entry.row;
  places_.erase({row.kind, entry.session_order, row.first, row.id});
  for (const std::string& term : row.terms)
    terms_.erase({row.kind, term, entry.session_order, row.first, row.id});
  if (row.due) due_.erase({*row.due, row.kind, row.id});
  if (entry.changed_at > 0) changed_.erase({row.kind, entry.changed_at, row.id});
}

void IndexRows::erase(std::string_view kind, const std::string& id) {
  const auto found = objects_.find(Key{kind, id});
  if (found == objects_.end()) return;
  unlist(found->second);
  objects_.erase(found);
}

void IndexRows::erase_session(const SessionId& session) {
  std::erase_if(objects_, [&](const auto& object) {
    if (object.second.session != session) return false;
    unlist(object.second);
    return true;
  });
}

const IndexEntry* IndexRows::find(const std::string& kind, const std::string& id) const {
  const auto found = objects_.find({kind, id});
  return found == objects_.end() ? nullptr : &found->second;
}

std::vector<IndexEntry> IndexRows::by_term(const IndexQuery& query, std::uint64_t order) const {
  const auto mine = [&](const TermPlace& place) {
    return std::get<0>(place) == query.kind && std::get<1>(place) == *query.term &&
           (!query.session || std::get<2>(place) == order);
  };
  std::vector<IndexEntry> entries;
  const auto add = [&](const TermPlace& place) {
    entries.push_back(objects_.at({query.kind, std::get<4>(place)}));
  };
  if (query.oldest_first) {
    for (auto at = terms_.lower_bound({query.kind, *query.term, order, 0, ""});
         at != terms_.end() && mine(*at) && entries.size() < query.limit; ++at)
      add(*at);
    return entries;
  }
  TermPlace before{query.kind, *query.term, query.before.value_or(kPastAll), query.before_first,
                   query.before_id};
  if (query.session)
    before = {query.kind, *query.term, order, query.before.value_or(kPastAll), query.before_id};
  auto at = terms_.lower_bound(before);
  while (at != terms_.begin() && entries.size() < query.limit && mine(*--at)) add(*at);
  return entries;
}

std::vector<IndexEntry> IndexRows::by_change(const IndexQuery& query) const {
  std::vector<IndexEntry> entries;
  auto at = changed_.lower_bound({query.kind, query.before.value_or(kPastAll), ""});
  while (at != changed_.begin() && entries.size() < query.limit) {
    --at;
    if (std::get<0>(*at) != query.kind) break;
    entries.push_back(objects_.at({query.kind, std::get<2>(*at)}));
  }
  return entries;
}

std::vector<IndexEntry> IndexRows::list(const IndexQuery& query, std::uint64_t order) const {
  if (query.term) return by_term(query, order);
  if (query.by_change) return by_change(query);
  Place before{query.kind, kPastAll, 0, ""};
  if (query.session)
    before = {query.kind, order, query.before.value_or(kPastAll), query.before_id};
  else if (query.before)
    before = {query.kind, *query.before, query.before_first, query.before_id};

  std::vector<IndexEntry> entries;
  auto at = places_.lower_bound(before);
  while (at != places_.begin() && entries.size() < query.limit) {
    --at;
    const auto& [kind, owner, first, id] = *at;
    if (kind != query.kind || (query.session && owner != order)) break;
    const IndexEntry& entry = objects_.at({kind, id});
    if (query.open_only && !entry.row.open) continue;
    if (!query.parent || entry.row.parent == *query.parent) entries.push_back(entry);
  }
  return entries;
}

std::uint64_t IndexRows::count(const IndexQuery& query, std::uint64_t order) const {
  IndexQuery all = query;
  all.before.reset();
  all.before_first = 0;
  all.before_id.clear();
  all.limit = std::numeric_limits<std::size_t>::max();
  return list(all, order).size();
}

std::vector<IndexEntry> IndexRows::due(std::size_t limit) const {
  std::vector<IndexEntry> entries;
  for (const auto& [_, kind, id] : due_) {
    if (entries.size() == limit) break;
    entries.push_back(objects_.at({kind, id}));
  }
  return entries;
}

std::vector<SessionId> IndexRows::open_sessions() const {
  std::map<std::uint64_t, SessionId> found;
  for (const auto& [key, entry] : objects_)
    if (entry.row.open) found.emplace(entry.session_order, entry.session);
  std::vector<SessionId> sessions;
  for (auto& [_, id] : found) sessions.push_back(std::move(id));
  return sessions;
}

}  // namespace agentrt::store
