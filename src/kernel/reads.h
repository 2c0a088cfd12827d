// kernel/reads.h: read queries on the store: pages of turns and events. Those that return
// a string return the JSON of the command's reply. All of them block and run on a worker; none
// appends. Errors: invalid_params: a wrong limit or cursor; not_found: no such session; gone: a
// cursor or sequence of another generation, or beyond the end; and those of the store.
#pragma once

#include <optional>
#include <string>

#include "kernel/limits.h"
#include "ports/control_plane.h"
#include "schema/snapshots.h"
#include "store/store.h"

namespace agentrt::kernel {

// A list cursor, opaque to the client: the store's generation and a position in it.
std::string write_cursor(const GenerationId& generation, std::uint64_t place);
// Errors: invalid_params (not a cursor); gone (a cursor of another generation).
Result<std::uint64_t> read_cursor(const GenerationId& generation, std::string_view cursor);

// The whole number that the text is, without a sign; nullopt: it is none.
std::optional<std::uint64_t> number_of(std::string_view text);

// not_found if a session is named that does not exist.
Result<void> check_session(store::Store& store, const std::optional<SessionId>& session);

// A cursor in a list of index rows, of one session or of all: GENERATION.ORDER:FIRST:ID.
std::string write_row_cursor(const GenerationId& generation, const store::IndexEntry& entry);
Result<void> read_row_cursor(const GenerationId& generation, std::string_view cursor,
                             store::IndexQuery& query);

// Events of one session in order. Its nextCursor is a sequence and not a cursor as above.
Result<std::string> list_events(store::Store& store, const schema::ListEvents& query,
                                const Limits& limits);
// A page for event streams (ports::FactFeed::read). Over all sessions, a damaged row is replaced by
// an event of type ports::kDamagedEvent; in one session it is an error. With a filter, the page may
// be empty although later facts match: it scans at most events_scanned_max.
Result<ports::Page> read_page(store::Store& store, const ports::PageQuery& query,
                              const Limits& limits);

// Adds the window of turns that `query` requests.
Result<void> add_history(store::Store& store, const schema::GetSession& query, const Limits& limits,
                         schema::SessionSnapshot& snapshot);

// The turn's turn.submitted and its current status; empty: no such turn.
struct FoundTurn {
  schema::Fact submitted;
  schema::Status status = schema::Status::accepted;
};
Result<std::optional<FoundTurn>> find_turn(store::Store& store, const TurnId& turn);
// The subagent's subagent.spawned; empty: no such subagent.
Result<std::optional<schema::Fact>> find_spawned(store::Store& store, const SubagentId& subagent);

}  // namespace agentrt::kernel
