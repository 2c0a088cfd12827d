// policy/laxity.h: the properties of each permission mode, and which of two modes or sandboxes
// permits more.
//
// traits_of() lists every mode, so the compiler reports a mode that is missing. Code that depends
// on a property of a mode asks here and does not list modes itself.
//
// PURE. Safe on any thread.
#pragma once

#include "schema/statuses.h"
#include "schema/values.h"

namespace agentrt::policy {

struct ModeTraits {
  int acts = 0;                // rank of the mode by what it does without approval: 0 least
  bool reads_unasked = false;  // reading inside the workspace needs no approval
  bool asks_people = false;    // a call that needs approval is asked about; false: it fails
  bool classifies = false;     // the classifier may allow a shell text
  // The user is asked whether a command that the sandbox stopped may run again outside it.
  bool retries_outside = false;
};
ModeTraits traits_of(schema::PermissionMode mode);

// Whether `a` permits nothing that `b` does not permit. False if the modes are not comparable.
bool at_most_as_lax(schema::PermissionMode a, schema::PermissionMode b);
bool at_most_as_lax(schema::SandboxMode a, schema::SandboxMode b);

// Whether a turn with these options may do without a person something that the mode default in the
// sandbox workspace_write would not: the caller that submits it approves in advance.
bool approves_in_advance(const schema::TurnOptions& options);

}  // namespace agentrt::policy
