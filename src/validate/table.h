// validate/table.h: the objects of a stream by id, in bounded memory.
//
// Open objects are kept. Ended objects are kept for a while, to recognise a second end or a late
// fact, and are then forgotten, oldest first. Once forgot() is true, an unknown id may belong to a
// forgotten object, so rules must not report it.
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>

namespace agentrt::validate {

inline constexpr std::size_t kEndedRemembered = 16'384;  // per kind of object
inline constexpr std::size_t kOpenMax = 262'144;         // per kind of object

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
  // Returns the object; creates an open one if it is missing. Beyond kOpenMax the oldest open
  // object is forgotten.
  T& at(Key key) {
    const auto [found, fresh] = places_.try_emplace(key);
    if (fresh) {
      found->second = open_.insert(open_.end(), Entry{key, {}});
      if (open_.size() > kOpenMax) forget(open_);
    }
    return found->second->object;
  }
  // Marks the object as ended, so that it may be forgotten.
  void end(Key key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    Entry& entry = *found->second;
    ended_.splice(ended_.end(), entry.ended ? ended_ : open_, found->second);
    entry.ended = true;
    if (ended_.size() > kEndedRemembered) forget(ended_);
  }
  // Marks an ended object as open again.
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
