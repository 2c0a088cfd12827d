#include "store/row_check.h"

#include <fmt/format.h>

#include "base/check.h"
#include "schema/json.h"

namespace agentrt::store {

Digest chain_erased(const Digest& previous, const schema::StoredEvent& event,
                    const Digest& payload_sha256) {
  std::string head;
  schema::write_head(head, event);
  return sha256(bytes_of(previous), head, bytes_of(payload_sha256));
}

Error damaged_row(const SessionId& session, Sequence sequence, std::string_view what) {
  std::string details = R"({"sessionId":)";
  schema::write_string(details, session.text());
  details += fmt::format(R"(,"sequence":{}}})", sequence);
  return {Code::internal,
          fmt::format("the stored event {} of session {} is damaged: {}; other sessions are not "
                      "affected; restore this session from a backup",
                      sequence, session.text(), what),
          std::move(details)};
}

std::optional<Event> stand_in(Position position, const SessionId& session, Sequence sequence,
                              Timestamp at, const Error& error) {
  if (error.code != Code::internal) return std::nullopt;
  Event out;
  out.position = position;
  out.event.session = session;
  out.event.sequence = sequence;
  out.event.at = at;
  out.damage = error.message;
  return out;
}

Error no_such_session(const SessionId& session) {
  return {Code::not_found, fmt::format("there is no session {}", session.text()), {}};
}

Error sequence_conflict(const Append& append, Sequence actual) {
  return {Code::conflict,
          fmt::format("session {} is at sequence {}, not {}", append.session.text(), actual,
                      append.expected),
          fmt::format(R"({{"expected":{},"actual":{}}})", append.expected, actual)};
}

Error key_taken(const IdempotencyRecord& record) {
  return {Code::conflict,
          fmt::format("the idempotency key {} was recorded by another command", record.key),
          {}};
}

Error row_taken(const IndexRow& row) {
  return {
      Code::conflict, fmt::format("the {} {} belongs to another session", row.kind, row.id), {}};
}

void check_append(const Append& append) {
  check(!append.session.empty(), "an append names its session");
  check(!append.events.empty() || append.beside_log() ||
            (append.expected > 0 && !append.idempotency.empty()),
        "an append has events, or records the answer to a key in a session that exists");
  for (const IndexRow& row : append.index)
    for (const std::string& term : row.terms)
      check(!term.empty() && term.find('\n') == std::string::npos, "a term is one line");
  Sequence next = append.expected;
  for (const schema::StoredEvent& event : append.events) {
    check(event.sequence == ++next, "the events of an append follow each other");
    check(event.session == append.session, "the events of an append are of its session");
  }
}

Result<void> check_query(const IndexQuery& query) {
  if (query.parent && (query.parent->empty() || !query.session))
    return fail(Code::invalid_params, "a list under a parent names the parent and its session");
  if (query.open_only && query.session)
    return fail(Code::invalid_params, "a list of what is open is over all sessions");
  if (query.term && (query.term->empty() || query.parent || query.open_only))
    return fail(Code::invalid_params, "a list by term names the term and no other selection");
  if (query.oldest_first && (!query.term || !query.session || query.before))
    return fail(Code::invalid_params, "a list from the oldest on is by term, of one session");
  if (query.by_change && (query.session || query.parent || query.open_only || query.term))
    return fail(Code::invalid_params, "a list by change is over all sessions, of one kind");
  return {};
}

std::size_t page_bytes(const schema::StoredEvent& event) {
  constexpr std::size_t kEnvelopeBytes = 256;  // approximate size of what write_head() adds
  return event.payload.size() + event.scope.size() + kEnvelopeBytes;
}

}  // namespace agentrt::store
