// conversation/history/kept_conversations.h: a cache of the conversations of threads, across their
// turns.
//
// The lane of a session adds each fact that it makes, so a request need not read it back. One limit
// bounds the memory of all threads: the conversation that was used least recently is dropped, and
// rebuilt from the log when its thread is asked again. The kernel owns the cache. Any thread.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "conversation/messages/conversation.h"

namespace agentrt::conversation {

using Tools = std::shared_ptr<const std::vector<ports::OfferedTool>>;

// The tools of a complete catalogue that a model may be offered.
Tools offered_in(const schema::ToolCatalogResolved& catalog);

class KeptConversations {
 public:
  static constexpr std::size_t kCatalogsMax = 64;           // kept tool catalogues
  static constexpr std::size_t kEntryBytes = 1'024;         // counted for each thread in addition
  static constexpr std::size_t kCatalogBytesMax = 4 << 20;  // larger catalogues are not kept

  explicit KeptConversations(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Adds a fact made by a lane, in order; it may not be stored yet.
  void add(const schema::Fact& fact);
  // Drops the conversations of a session: a fact added here was not stored, or its log was changed
  // by an erasure or deleted.
  void discard(const SessionId& session);
  struct Found {
    std::optional<Conversation> conversation;  // absent: not kept
    // add() has added every fact of the thread, so nothing has to be read from the log.
    bool live = false;
    std::uint64_t ticket = 0;                    // to be passed to keep()
    std::optional<schema::Fact> submitted = {};  // of the turn in progress, if it had to be read
  };
  // `rolled_back`: as in ports::HistoryQuery. A conversation from before that rollback is dropped;
  // one from after it is neither returned nor replaced, as the query is out of date.
  Found find(const SessionId& session, const ThreadId& thread, Sequence rolled_back);
  // Keeps what find() returned, completed from the log up to and with fact `up_to`. Ignored if the
  // conversation was discarded since find().
  void keep(const SessionId& session, const ThreadId& thread, const Found& found, Sequence up_to);

  Tools tools(const SessionId& session, Sequence catalog) const;  // null: not kept
  void keep_tools(const SessionId& session, Sequence catalog, Tools tools);

  std::size_t bytes() const;

 private:
  using Key = std::pair<SessionId, ThreadId>;
  struct Kept {
    Key key;
    std::optional<Conversation> conversation;
    bool live = false;
    // Whether add() has noted the facts since before the view of the query that keep() answers.
    bool noted = false;
    Sequence added = 0;  // the last fact of the thread that add() was given
    Sequence rolled_back = 0;
    std::uint64_t ticket = 0;
    std::size_t bytes = 0;
  };
  using Place = std::list<Kept>::iterator;

  // All of these require mutex_.
  Place put_first(Key key);
  void measure(Place place);
  void drop(Place place);
  void put_tools(const SessionId& session, Sequence catalog, Tools tools);

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // guards the members below
  std::list<Kept> kept_;      // most recently used first
  std::map<Key, Place> by_key_;
  std::map<std::pair<SessionId, Sequence>, Tools> catalogs_;
  std::uint64_t tickets_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace agentrt::conversation
