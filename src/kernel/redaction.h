// kernel/redaction.h: secrets leave facts and replies before they are stored. Core only.
#pragma once

#include "policy/redaction.h"
#include "ports/control_plane.h"
#include "schema/envelope.h"

namespace agentrt::kernel {

// Replaces secrets in the payload's bytes and makes `draft` say what the bytes say.
void redact_fact(const policy::Redactor& redactor, schema::StoredEvent& event,
                 schema::Draft& draft);
void redact_reply(const policy::Redactor& redactor, ports::Reply& reply);

// Whether an id or key that the command chooses holds a secret: those cannot be replaced.
bool names_secret(const policy::Redactor& redactor, const schema::Command& command);

}  // namespace agentrt::kernel
