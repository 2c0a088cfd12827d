// schema/wire_event.h: an event as it stands on the wire, read back into what the log held.
#pragma once

#include <string_view>

#include "schema/envelope.h"

namespace agentrt::schema {

// REQUIRES: nothing; the text may be anyone's. invalid_params, with the member's path: it is not an
// event with type, sessionId, sequence, timestamp and an object as payload.
Result<StoredEvent> read_event(std::string_view text);

}  // namespace agentrt::schema
