// store/memory/index_rows.h: index rows in memory, with their lists. The in-memory store keeps its
// rows here, and so does the past of a session (kernel/past.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "store/store.h"

namespace agentrt::store {

class IndexRows {
 public:
  // Adds the entry; it replaces that of the same kind and id.
  void put(IndexEntry entry);
  void erase(std::string_view kind, const std::string& id);
  void erase_session(const SessionId& session);

  // The entry; nullptr: there is none.
  const IndexEntry* find(const std::string& kind, const std::string& id) const;
  // As Store::list(). `order`: the session_order of query.session, if the query names one.
  // REQUIRES: check_query() accepts the query.
  std::vector<IndexEntry> list(const IndexQuery& query, std::uint64_t order) const;
  std::uint64_t count(const IndexQuery& query, std::uint64_t order) const;
  std::vector<IndexEntry> due(std::size_t limit) const;
  // The sessions with an open row, by order.
  std::vector<SessionId> open_sessions() const;

 private:
  using Key = std::pair<std::string, std::string>;  // kind, id
  // kind, session order, first, id: the sort order of lists.
  using Place = std::tuple<std::string, std::uint64_t, Sequence, std::string>;
  // kind, term, session order, first, id.
  using TermPlace = std::tuple<std::string, std::string, std::uint64_t, Sequence, std::string>;

  void unlist(const IndexEntry& entry);
  std::vector<IndexEntry> by_term(const IndexQuery& query, std::uint64_t order) const;
  std::vector<IndexEntry> by_change(const IndexQuery& query) const;

  std::map<Key, IndexEntry> objects_;
  std::set<Place> places_;
  std::set<TermPlace> terms_;
  std::set<std::tuple<Timestamp, std::string, std::string>> due_;     // with kind and id
  std::set<std::tuple<std::string, Position, std::string>> changed_;  // kind, changed_at, id
};

}  // namespace agentrt::store
