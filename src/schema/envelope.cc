#include "schema/envelope.h"

#include <fmt/format.h>

namespace agentrt::schema {

std::string event_id(const SessionId& session, Sequence sequence) {
  return fmt::format("evt_{}_{}", session.text(), sequence);
}

StoredEvent encode(const Draft& draft, Sequence sequence, Timestamp at, const RuntimeId& runtime) {
  StoredEvent event;
  event.session = draft.ids.session;
  event.sequence = sequence;
  event.at = at;
  event.type = type_of(draft.payload);
  event.runtime = runtime;
  write_members(event.scope, draft.ids);
  write_payload(event.payload, draft.payload);
  return event;
}

Result<Fact> decode(const StoredEvent& event) {
  Fact fact;
  fact.sequence = event.sequence;
  fact.at = event.at;
  if (!event.scope.empty()) {
    thread_local std::string braced;
    braced.assign(1, '{').append(event.scope).push_back('}');
    TRY(from_json(braced, fact.ids, Unknown::ignore));
  }
  fact.ids.session = event.session;
  TRY_ASSIGN(fact.payload, read_payload(event.type, event.payload));
  return fact;
}

void write_head(std::string& out, const StoredEvent& event) {
  out += R"({"type":)";
  write_string(out, event.type);
  out += R"(,"eventId":"evt_)";
  out += event.session.text();
  out += '_';
  write_number(out, std::uint64_t{event.sequence});
  out += R"(","schemaVersion":)";
  write_string(out, event.schema_version);
  out += R"(,"timestamp":")";
  append(out, event.at);
  out += R"(","sequence":)";
  write_number(out, std::uint64_t{event.sequence});
  out += R"(,"runtimeId":)";
  write_string(out, event.runtime.text());
  out += R"(,"sessionId":)";
  write_string(out, event.session.text());
  if (!event.scope.empty()) {
    out += ',';
    out += event.scope;
  }
}

void write_event(std::string& out, const StoredEvent& event) {
  write_head(out, event);
  out += R"(,"payload":)";
  out += event.payload;
  out += '}';
}

Digest chain(const Digest& previous, const StoredEvent& event) {
  thread_local std::string head;
  head.clear();
  write_head(head, event);
  const Digest payload = sha256(event.payload);
  return sha256(bytes_of(previous), head, bytes_of(payload));
}

}  // namespace agentrt::schema
