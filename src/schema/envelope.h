// schema/envelope.h: the encoding of a fact in the log and on the wire.
//
// The payload is encoded once, when the fact is appended. The same bytes are stored and sent to
// every client. write_head() renders the envelope around them from the stored columns, both when
// the row is hashed on its way to disk and when it is sent, so the two cannot differ.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "schema/facts.h"

namespace agentrt::schema {

inline constexpr std::string_view kSchemaVersion = "0.4.0";

// One row of the log.
struct StoredEvent {
  SessionId session;
  Sequence sequence = 0;
  Timestamp at;
  std::string type;
  std::string schema_version{kSchemaVersion};
  RuntimeId runtime;
  // the correlation ids except the session's, as JSON members without braces; may be empty
  std::string scope;
  std::string payload;  // a JSON object

  bool operator==(const StoredEvent&) const = default;
};

// evt_SESSION_SEQUENCE. Derived, so it is not stored.
std::string event_id(const SessionId& session, Sequence sequence);

StoredEvent encode(const Draft& draft, Sequence sequence, Timestamp at, const RuntimeId& runtime);
Result<Fact> decode(const StoredEvent& event);

// Writes {"type":…,"eventId":…,…,"sessionId":…,<scope> : the envelope up to its payload, unclosed.
void write_head(std::string& out, const StoredEvent& event);
// Writes the complete event: head, payload, closing brace.
void write_event(std::string& out, const StoredEvent& event);

// SHA-256(previous, head, SHA-256(payload)): serves as the row's checksum and its hash chain link.
Digest chain(const Digest& previous, const StoredEvent& event);

}  // namespace agentrt::schema
