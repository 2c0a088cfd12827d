// kernel/kept_history.h: what turns that run are asked with, in memory.
//
// A turn needs its own facts and the turns before it with every request. Its lane adds each of its
// facts as it is made, so that a request need not read them back; while it runs, no other turn of
// its thread is completed. What does not fit is read from the log. Any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernel/turn_messages.h"
#include "schema/snapshots.h"

namespace agentrt::kernel {

// A turn that runs, as far as it is known.
struct OwnTurn {
  std::vector<schema::InputPart> input;
  TurnReading reading;
};

// The turns before one that runs, as far as they fit.
struct EarlierTurns {
  std::vector<ports::Message> messages;  // oldest first
  std::optional<schema::HistoryWindowLoaded> loaded;
  std::optional<std::string> limit;  // that left out older ones
  std::size_t bytes = 0;             // of the messages
  std::size_t room = 0;              // that they had

  // With this room they would be the same.
  bool hold_in(std::size_t other_room) const {
    return other_room == room || (other_room < room && bytes <= other_room);
  }
};

class KeptHistory {
 public:
  static constexpr std::size_t kTurnsMax = 256;
  KeptHistory(std::size_t bytes_max, std::size_t facts_max)
      : bytes_max_(bytes_max), facts_max_(facts_max) {}

  // A fact that a lane has made, in order; it may not be stored yet.
  void add(const schema::Fact& fact);
  // It was not stored: what is known of the session's turns is none of it.
  void forget(const SessionId& session);

  struct Found {
    std::optional<OwnTurn> own;
    bool whole = false;  // up to the newest fact
    std::shared_ptr<const EarlierTurns> earlier;
  };
  Found find(const TurnId& turn) const;
  // What was found of a turn, completed by what was read for it; its own facts count only where
  // they are not added here, and not at all where they were and have been forgotten since.
  void keep(const SessionId& session, const TurnId& turn, Found found);

 private:
  struct Kept {
    SessionId session;
    TurnId turn;
    OwnTurn own;
    bool whole = false;
    std::shared_ptr<const EarlierTurns> earlier;
    std::size_t bytes = 0;
  };
  using Place = std::list<Kept>::iterator;

  // All of these: under mutex_.
  void put_first(Kept kept);
  void measure(Place place);
  void drop(Place place);
  void make_room();

  const std::size_t bytes_max_, facts_max_;
  mutable std::mutex mutex_;  // guards what follows
  std::list<Kept> kept_;      // last changed first
  std::unordered_map<TurnId, Place> by_turn_;
  std::size_t bytes_ = 0;
};

}  // namespace agentrt::kernel
