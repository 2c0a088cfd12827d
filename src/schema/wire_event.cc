#include "schema/wire_event.h"

namespace agentrt::schema {
namespace {

// The envelope members other than the correlation ids.
struct Frame {
  std::string type;
  SessionId session_id;
  Sequence sequence = 0;
  Timestamp timestamp;
  std::string schema_version;
  RuntimeId runtime_id;
  Json payload;
};
BOOST_DESCRIBE_STRUCT(Frame, (),
                      (type, session_id, sequence, timestamp, schema_version, runtime_id, payload))

}  // namespace

Result<StoredEvent> read_event(std::string_view text) {
  TRY(check_json(text));
  Frame frame;
  TRY(from_json(text, frame, Unknown::ignore));
  if (frame.type.empty() || frame.session_id.empty() || frame.sequence == 0)
    return fail(Code::invalid_params, "an event has type, sessionId and sequence");
  if (!frame.payload.text.starts_with('{'))
    return fail(Code::invalid_params, "payload: expected an object");
  Ids ids;
  TRY(from_json(text, ids, Unknown::ignore));
  StoredEvent event;
  event.session = std::move(frame.session_id);
  event.sequence = frame.sequence;
  event.at = frame.timestamp;
  event.type = std::move(frame.type);
  event.schema_version = std::move(frame.schema_version);
  event.runtime = std::move(frame.runtime_id);
  write_members(event.scope, ids);
  event.payload = std::move(frame.payload.text);
  return event;
}

}  // namespace agentrt::schema
