// schema/envelope.h: how a fact stands in the log and on the wire.
//
// The payload is encoded once, when the fact is appended; those bytes are stored and are what every
// client gets. The envelope around them is rendered from the stored columns by write_head(), on the
// way to disk (the hash covers it) and on every way out, so the two cannot differ.
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
  std::string scope;  // the ids beside the session's, as JSON members without braces; may be empty
  std::string payload;  // a JSON object

  bool operator==(const StoredEvent&) const = default;
};

// evt_SESSION_SEQUENCE: nothing needs to store it.
std::string event_id(const SessionId& session, Sequence sequence);

StoredEvent encode(const Draft& draft, Sequence sequence, Timestamp at, const RuntimeId& runtime);
Result<Fact> decode(const StoredEvent& event);

// {"type":…,"eventId":…,…,"sessionId":…,<scope> — the whole envelope up to its payload, unclosed.
void write_head(std::string& out, const StoredEvent& event);
// The whole event: head, payload, closing brace.
void write_event(std::string& out, const StoredEvent& event);

// SHA-256(previous, head, SHA-256(payload)): checksum and hash chain in one.
Digest chain(const Digest& previous, const StoredEvent& event);

}  // namespace agentrt::schema
