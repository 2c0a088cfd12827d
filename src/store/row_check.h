// store/row_check.h: checks of stored rows, appends and queries, and the errors that stores return.
//
// The hash of a row is schema::chain() of its predecessor's hash and its own bytes. If a payload
// was erased, its SHA-256 is kept, which is enough to compute the chain.
#pragma once

#include <string_view>

#include "base/digest.h"
#include "store/store.h"

namespace agentrt::store {

// Reads return this instead of an erased payload.
inline constexpr std::string_view kErasedPayload = R"({"erased":true})";

// The hash before a session's first row.
inline constexpr Digest kNoPredecessor{};

// The hash of a row whose payload was erased.
Digest chain_erased(const Digest& previous, const schema::StoredEvent& event,
                    const Digest& payload_sha256);

// The error `internal` with the details {"sessionId": …, "sequence": …}.
Error damaged_row(const SessionId& session, Sequence sequence, std::string_view what);
// An event that replaces a damaged row in pages over all sessions. nullopt: the error is not about
// damage.
std::optional<Event> stand_in(Position position, const SessionId& session, Sequence sequence,
                              Timestamp at, const Error& error);
// The session id of a row whose session's name is lost.
inline const SessionId kLostSession{"sess_lost"};
Error no_such_session(const SessionId& session);
// The error for an append whose `expected` is not the session's last sequence. Details:
// {"expected": …, "actual": …}.
Error sequence_conflict(const Append& append, Sequence actual);
// The error for an append whose idempotency key was already recorded.
Error key_taken(const IdempotencyRecord& record);
// The error for an append that would write an index row of another session.
Error row_taken(const IndexRow& row);

// Checks the preconditions of commit(): the events belong to the session and follow `expected`
// without gaps. A violation stops the process.
void check_append(const Append& append);

// invalid_params if the query has a parent without a session, an empty parent, open_only with a
// session, or a term or order that IndexQuery does not allow.
Result<void> check_query(const IndexQuery& query);

// The size of an event for the byte limit of a page.
std::size_t page_bytes(const schema::StoredEvent& event);

}  // namespace agentrt::store
