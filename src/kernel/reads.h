// kernel/reads.h: answers from the store: pages of sessions, turns and events, and the history a
// model is given. All of these block and run on a worker; none of them appends.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/limits.h"
#include "kernel/turn_messages.h"
#include "ports/control_plane.h"
#include "ports/workspace.h"
#include "schema/snapshots.h"
#include "store/store.h"

namespace agentrt::kernel {

// A place in a list, opaque to the client: the store's generation and an order within it.
std::string write_cursor(const GenerationId& generation, std::uint64_t place);
// invalid_params for a text that is no cursor, gone for one of another generation.
Result<std::uint64_t> read_cursor(const GenerationId& generation, std::string_view cursor);

// Sessions whose rows may say more than is known: an earlier boot left them with open work.
using IsStale = std::function<bool(const SessionId&)>;

Result<std::string> list_sessions(store::Store& store, const schema::ListSessions& query,
                                  const Limits& limits, const IsStale& is_stale);
Result<std::string> list_events(store::Store& store, const schema::ListEvents& query,
                                const Limits& limits);
Result<ports::Page> read_page(store::Store& store, const ports::PageQuery& query);

// Fills in the window of turns that `query` asks for.
Result<void> add_history(store::Store& store, const schema::GetSession& query, const Limits& limits,
                         schema::SessionSnapshot& snapshot);

// The turn's turn.submitted and its present status; nothing when there is no such turn.
struct FoundTurn {
  schema::Fact submitted;
  schema::Status status = schema::Status::accepted;
};
Result<std::optional<FoundTurn>> find_turn(store::Store& store, const TurnId& turn);

// The turns before one that runs, as far as they fit.
struct EarlierTurns {
  std::vector<ports::Message> messages;  // oldest first
  std::optional<schema::HistoryWindowLoaded> loaded;
  std::optional<std::string> limit;  // that left out older ones
  std::size_t bytes = 0;             // of the messages
  std::size_t room = 0;              // that they had

  // With this room they would be the same.
  bool hold_in(std::size_t other_room) const {
    return other_room == room || (other_room < room && !limit && bytes <= other_room);
  }
};

// A turn that runs, as far as it was read.
struct OwnTurn {
  std::vector<schema::InputPart> input;
  TurnReading reading;
};

// What was read for a turn that runs, since it needs it with every request: the log only grows, and
// while a turn runs no other of its thread is completed. Any thread.
class KeptHistory {
 public:
  static constexpr std::size_t kTurnsMax = 256;
  struct Turn {
    TurnId id;
    std::shared_ptr<const OwnTurn> own;
    std::shared_ptr<const EarlierTurns> earlier;
    std::size_t bytes = 0;
  };
  explicit KeptHistory(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // One without anything, where nothing is kept.
  Turn find(const TurnId& turn) const;
  // In place of what was kept of it. Forgets those that were kept first, beyond kTurnsMax and
  // bytes_max.
  void keep(Turn turn);

 private:
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Turn> kept_;     // newest first
  std::size_t bytes_ = 0;
};

Result<ports::HistoryWindow> history_window(store::Store& store, const Limits& limits,
                                            const ports::HistoryQuery& query, KeptHistory& kept);

}  // namespace agentrt::kernel
