// policy/laxity.h: what the permission modes have in common, mode by mode, and which of two modes
// or sandboxes permits more.
//
// traits_of() names every mode, so the compiler reports a mode that is missing. Code that needs the
// modes with some property asks here.
//
// PURE. Safe on any thread.
#pragma once

#include "schema/statuses.h"
#include "schema/values.h"

namespace agentrt::policy {

struct ModeTraits {
  int acts = 0;                  // how much happens without a person: 0 least
  bool reads_unasked = false;    // reading inside the workspace needs no person
  bool asks_people = false;      // what no rule allows is asked; else it is unavailable
  bool classifies = false;       // the classifier may allow a shell text
  bool retries_outside = false;  // a person is asked to run again outside what the sandbox stopped
};
ModeTraits traits_of(schema::PermissionMode mode);

// Whether `a` permits nothing that `b` does not permit. False if the modes are not comparable.
bool at_most_as_lax(schema::PermissionMode a, schema::PermissionMode b);
bool at_most_as_lax(schema::SandboxMode a, schema::SandboxMode b);

// Whether a turn with these options may do without a person something that the mode default in the
// sandbox workspace_write would not: the caller that submits it approves in advance.
bool approves_in_advance(const schema::TurnOptions& options);

}  // namespace agentrt::policy
