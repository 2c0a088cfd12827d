// schema/wire_event.h: decodes an event from the wire into a row of the log.
#pragma once

#include <string_view>

#include "schema/envelope.h"

namespace agentrt::schema {

// Accepts untrusted text. Fails with invalid_params and the member's path unless the text is an
// event with type, sessionId, sequence, timestamp and an object as payload.
Result<StoredEvent> read_event(std::string_view text);

}  // namespace agentrt::schema
