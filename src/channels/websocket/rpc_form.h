// channels/websocket/rpc_form.h: a stream of events as JSON-RPC notifications in WebSocket frames.
#pragma once

#include <string>
#include <string_view>

#include "channels/stream_form.h"

namespace agentrt::channels {

// The notifications event, stream.overflow, stream.error and stream.progress of one subscription.
StreamFormPtr rpc_form(const StreamKind& kind, std::string_view subscription);

}  // namespace agentrt::channels
