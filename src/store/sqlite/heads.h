// store/sqlite/heads.h: an LRU cache of the newest row of recently written sessions, so that an
// append needs no read.
//
// It is bounded and may evict a session at any time. Cached entries are always correct: those that
// a transaction changed are dropped if the transaction fails. Use from one thread.
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/digest.h"
#include "base/ids.h"

namespace agentrt::store {

struct Head {
  std::int64_t key = 0;   // the session's row id in `session`
  Sequence sequence = 0;  // of its newest event
  Digest hash{};          // of that event's row
};

class Heads {
 public:
  explicit Heads(std::size_t sessions_max) : sessions_max_(sessions_max) {}

  // nullptr if it is not cached. Valid until the next put() or drop().
  Head* find(const SessionId& session);
  // Caches the head, and evicts the least recently used one if there are too many.
  Head& put(const SessionId& session, const Head& head);
  void drop(const SessionId& session);

  std::size_t size() const { return by_session_.size(); }

 private:
  using Entry = std::pair<SessionId, Head>;

  std::size_t sessions_max_;
  // most recently used first
  std::list<Entry> by_use_;
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_session_;  // keys in by_use_
};

}  // namespace agentrt::store
