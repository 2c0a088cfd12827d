// outputs/uploads.h: binds uploaded bytes to a session as an output.
#pragma once

#include "ports/control_plane.h"
#include "schema/outputs.h"
#include "store/store.h"

namespace agentrt::outputs {

// Reports bytes that are stored already, and replies when the fact that names them is stored too.
// The ref is derived from session, media type and content, so a repeated upload gets the same reply
// and writes nothing. Any thread; `store` must outlive the reply.
void bind_upload(store::Store& store, ports::ClaimedReports& reports, SessionId session,
                 schema::KeptOutput output, ports::Caller caller, ports::ReplyTo reply_to);

}  // namespace agentrt::outputs
