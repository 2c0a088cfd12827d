#include "store/sqlite/heads.h"

namespace agentrt::store {

Head* Heads::find(const SessionId& session) {
  const auto found = by_session_.find(session.text());
  if (found == by_session_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return &found->second->second;
}

Head& Heads::put(const SessionId& session, const Head& head) {
  if (Head* held = find(session)) return *held = head;
  by_use_.emplace_front(session, head);
  by_session_.emplace(by_use_.front().first.text(), by_use_.begin());
  if (by_use_.size() > sessions_max_ && by_use_.size() > 1) {
    by_session_.erase(by_use_.back().first.text());
    by_use_.pop_back();
  }
  return by_use_.front().second;
}

void Heads::drop(const SessionId& session) {
  const auto found = by_session_.find(session.text());
  if (found == by_session_.end()) return;
  const auto entry = found->second;
  by_session_.erase(found);
  by_use_.erase(entry);
}

}  // namespace agentrt::store
