// conversation/history/kept_history.h: a cache of the history that running turns send with each
// request.
//
// Every request needs the turn's own facts and the earlier turns. The turn's lane adds each new
// fact here, so that a request need not read it back. The earlier turns stay valid, because no
// other turn of the thread completes meanwhile. A turn leaves the cache when it ends, or when the
// cache is full and the turn is the one that changed least recently; its history is then read from
// the log again. The kernel owns it. Any thread.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conversation/history/turn_messages.h"
#include "ports/workspace.h"
#include "schema/snapshots.h"

namespace agentrt::conversation {

// A running turn, up to the facts known so far.
struct OwnTurn {
  std::vector<schema::InputPart> input;
  TurnReading reading;
};

// The turns before a running one, as many as fit.
struct EarlierTurns {
  std::vector<ports::Message> messages;  // oldest first
  std::vector<ports::EarlierInput> with_files;
  std::optional<schema::HistoryWindowLoaded> loaded;
  std::optional<schema::Surroundings> opened_with;  // see HistoryWindow
  std::optional<std::string> limit;                 // the limit that excluded older ones
  std::size_t bytes = 0;                            // size of the messages
  std::size_t room = 0;                             // the size limit they were selected with

  // Whether this size limit would select the same turns.
  bool hold_in(std::size_t other_room) const {
    return other_room == room || (other_room < room && bytes <= other_room);
  }
};

class KeptHistory {
 public:
  static constexpr std::size_t kTurnsMax = 256;  // cached turns
  // `bytes_max`: of all cached turns together. `facts_max`: as in HistoryLimits.
  KeptHistory(std::size_t bytes_max, std::size_t facts_max)
      : bytes_max_(bytes_max), facts_max_(facts_max) {}

  // Adds a fact made by a lane, in order; it may not be stored yet.
  void add(const schema::Fact& fact);
  // Drops the session's turns, because a fact added here was not stored.
  void forget(const SessionId& session);

  struct Found {
    std::optional<OwnTurn> own;
    // add() has added every fact of the turn, so nothing has to be read from the log.
    bool whole = false;
    std::shared_ptr<const EarlierTurns> earlier;  // null: not cached
  };
  Found find(const TurnId& turn) const;
  // Puts back what find() returned, completed by what was read from the log. If add() maintains the
  // turn's own facts, only `earlier` is taken. If they were forgotten meanwhile, nothing is.
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

  // All of these require mutex_.
  void put_first(Kept kept);
  void measure(Place place);
  void drop(Place place);
  void make_room();

  const std::size_t bytes_max_, facts_max_;
  mutable std::mutex mutex_;  // guards the members below
  std::list<Kept> kept_;      // most recently changed first
  std::unordered_map<TurnId, Place> by_turn_;
  std::size_t bytes_ = 0;
};

}  // namespace agentrt::conversation
