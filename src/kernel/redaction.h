// kernel/redaction.h: removes secrets from facts and replies before they are stored. Core only.
#pragma once

#include "policy/redaction.h"
#include "ports/control_plane.h"
#include "schema/envelope.h"

namespace agentrt::kernel {

// Replaces secrets in the payload's bytes and updates `draft` to match. A string that the fact
// needs in order to be decoded, such as a status or a timestamp, is kept even if it equals a
// secret.
void redact_fact(const policy::Redactor& redactor, schema::StoredEvent& event,
                 schema::Draft& draft);
// Replaces secrets in the reply, or in the message of its error.
void redact_reply(const policy::Redactor& redactor, ports::Reply& reply);

// Whether an id or key chosen by the command contains a secret. Such a name cannot be redacted, so
// admission refuses the command.
bool names_secret(const policy::Redactor& redactor, const schema::Command& command);

}  // namespace agentrt::kernel
