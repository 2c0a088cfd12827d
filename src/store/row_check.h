// store/row_check.h: how a stored row is held against its hash, and how a damaged one is reported.
//
// A row's hash is schema::chain() of its predecessor's hash and its own bytes. A payload that was
// erased leaves its SHA-256 behind, which is all that the chain needs of it.
#pragma once

#include <string_view>

#include "base/digest.h"
#include "store/store.h"

namespace agentrt::store {

// What an erased payload reads as.
inline constexpr std::string_view kErasedPayload = R"({"erased":true})";

// The hash before a session's first row.
inline constexpr Digest kNoPredecessor{};

// The row's hash where only the payload's SHA-256 is left.
Digest chain_erased(const Digest& previous, const schema::StoredEvent& event,
                    const Digest& payload_sha256);

// `internal`, with {"sessionId": …, "sequence": …} as details.
Error damaged_row(const SessionId& session, Sequence sequence, std::string_view what);
// The stand-in for a row that cannot be trusted; absent where the error is not about damage.
std::optional<Event> stand_in(Position position, const SessionId& session, Sequence sequence,
                              Timestamp at, const Error& error);
// What a row's session is called whose name is lost.
inline const SessionId kLostSession{"sess_lost"};
Error no_such_session(const SessionId& session);
// What an append gets whose session has moved on: {"expected": …, "actual": …} as details.
Error sequence_conflict(const Append& append, Sequence actual);
// What an append gets whose idempotency key was recorded by another one.
Error key_taken(const IdempotencyRecord& record);
// What an append gets that would write an index row another session owns.
Error row_taken(const IndexRow& row);

// Stops the process unless the append is one that commit() may be given: events that follow
// `expected` one by one and belong to the session.
void check_append(const Append& append);

// invalid_params for a query that names a parent without a session, or an empty one.
Result<void> check_query(const IndexQuery& query);

// What counts towards a page's bytes.
std::size_t page_bytes(const schema::StoredEvent& event);

}  // namespace agentrt::store
