// validate/table.h: objects of a stream by id, in bounded memory.
//
// What is open is kept; what has ended is kept for a while, so that a second end or a late fact is
// recognised, and then forgotten, oldest first. Once something was forgotten, an unknown id may be
// an old one: forgot() says so, and rules give such an id the benefit of the doubt.
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>

namespace agentrt::validate {

inline constexpr std::size_t kEndedRemembered = 16'384;  // of one kind
inline constexpr std::size_t kOpenMax = 262'144;         // of one kind

using Key = std::uint64_t;

inline Key key_of(Key scope, std::string_view id) {
  const Key mixed = (scope ^ std::hash<std::string_view>{}(id)) * 0x9e3779b97f4a7c15;
  return mixed ^ mixed >> 29;
}

template <class T>
class Table {
 public:
  T* find(Key key) {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &found->second->object;
  }
  const T* find(Key key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &found->second->object;
  }
  // The object, made and open if it is not there. Beyond kOpenMax the oldest open one makes room.
  T& at(Key key) {
    const auto [found, fresh] = places_.try_emplace(key);
    if (fresh) {
      found->second = open_.insert(open_.end(), Entry{key, {}});
      if (open_.size() > kOpenMax) forget(open_);
    }
    return found->second->object;
  }
  // From now on the object may be forgotten.
  void end(Key key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    Entry& entry = *found->second;
    ended_.splice(ended_.end(), entry.ended ? ended_ : open_, found->second);
    entry.ended = true;
    if (ended_.size() > kEndedRemembered) forget(ended_);
  }
  // It goes on after all.
  void reopen(Key key) {
    const auto found = places_.find(key);
    if (found == places_.end() || !found->second->ended) return;
    open_.splice(open_.end(), ended_, found->second);
    found->second->ended = false;
  }
  bool forgot() const { return forgot_; }
  std::size_t size() const { return places_.size(); }
  std::size_t open() const { return open_.size(); }

 private:
  struct Entry {
    Key key;
    T object;
    bool ended = false;
  };
  using Entries = std::list<Entry>;

  void forget(Entries& from) {
    places_.erase(from.front().key);
    from.pop_front();
    forgot_ = true;
  }

  std::unordered_map<Key, typename Entries::iterator> places_;
  Entries open_;
  Entries ended_;
  bool forgot_ = false;
};

}  // namespace agentrt::validate
