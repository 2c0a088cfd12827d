// store/sqlite/heads.h: the newest rows of the sessions lately written, so that an append needs no
// read.
//
// A bounded cache in order of use. It may forget a session at any time and is never wrong about one
// it holds: what a transaction changed is dropped when that transaction fails. One thread.
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
  std::int64_t key = 0;   // the session's row in `session`
  Sequence sequence = 0;  // of its newest event
  Digest hash{};          // of that event's row
};

class Heads {
 public:
  explicit Heads(std::size_t sessions_max) : sessions_max_(sessions_max) {}

  // Null when it is not held. Good until the next put() or drop().
  Head* find(const SessionId& session);
  // Holds it, and forgets the one unused for longest when there are too many.
  Head& put(const SessionId& session, const Head& head);
  void drop(const SessionId& session);

  std::size_t size() const { return by_session_.size(); }

 private:
  using Entry = std::pair<SessionId, Head>;

  std::size_t sessions_max_;
  std::list<Entry> by_use_;                                                      // newest use first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_session_;  // keys in by_use_
};

}  // namespace agentrt::store
