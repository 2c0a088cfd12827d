// kernel/reads.h: answers from the store: pages of sessions, turns and events, and the history a
// model is given. All of these block and run on a worker; none of them appends.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kernel/kept_history.h"
#include "kernel/limits.h"
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

// Blocks; called on a worker. unavailable: what the query reaches up to is not stored, and not
// kept.
Result<ports::HistoryWindow> history_window(store::Store& store, const Limits& limits,
                                            const ports::HistoryQuery& query, KeptHistory& kept);

}  // namespace agentrt::kernel
