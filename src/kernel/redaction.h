// kernel/redaction.h: removes secrets from facts and replies before they are stored. Core only.
#pragma once

#include "policy/redaction.h"
#include "ports/control_plane.h"
#include "schema/envelope.h"

namespace agentrt::kernel {

// Replaces secrets in the payload's bytes and updates `draft` to match.
void redact_fact(const policy::Redactor& redactor, schema::StoredEvent& event,
                 schema::Draft& draft);
void redact_reply(const policy::Redactor& redactor, ports::Reply& reply);

// Whether an id or key chosen by the command contains a secret. Such a name cannot be redacted.
bool names_secret(const policy::Redactor& redactor, const schema::Command& command);

}  // namespace agentrt::kernel
