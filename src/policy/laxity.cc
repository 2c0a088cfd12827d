#include "policy/laxity.h"

namespace agentrt::policy {

using schema::PermissionMode;
using schema::SandboxMode;

namespace {

constexpr int kActsMost = 6;

int reach_of(SandboxMode mode) {
  switch (mode) {
    case SandboxMode::read_only:
      return 0;
    case SandboxMode::workspace_write:
      return 1;
    case SandboxMode::full_access:
      break;
  }
  return 2;
}

}  // namespace

// Without a default, so that the compiler refuses a mode that is not listed.
ModeTraits traits_of(PermissionMode mode) {
  switch (mode) {
    case PermissionMode::plan:
      return {.acts = 0, .reads_unasked = true, .asks_people = true};
    case PermissionMode::never:
      return {.acts = 1, .reads_unasked = true};
    case PermissionMode::untrusted:
      return {.acts = 2, .asks_people = true};
    case PermissionMode::default_:
      return {.acts = 2, .reads_unasked = true, .asks_people = true};
    case PermissionMode::on_request:
      return {.acts = 3, .reads_unasked = true, .asks_people = true};
    case PermissionMode::on_failure:
      return {.acts = 4, .reads_unasked = true, .asks_people = true, .retries_outside = true};
    case PermissionMode::auto_:
      return {.acts = 5, .reads_unasked = true, .asks_people = true, .classifies = true};
    case PermissionMode::bypass:
      break;
  }
  return {.acts = kActsMost, .reads_unasked = true, .asks_people = true};
}

bool at_most_as_lax(PermissionMode a, PermissionMode b) {
  const ModeTraits of_a = traits_of(a);
  const ModeTraits of_b = traits_of(b);
  return of_a.acts <= of_b.acts && (!of_a.reads_unasked || of_b.reads_unasked);
}

bool at_most_as_lax(SandboxMode a, SandboxMode b) { return reach_of(a) <= reach_of(b); }

bool approves_in_advance(const schema::TurnOptions& options) {
  return (options.mode && !at_most_as_lax(*options.mode, PermissionMode::default_)) ||
         (options.sandbox && !at_most_as_lax(*options.sandbox, SandboxMode::workspace_write));
}

}  // namespace agentrt::policy
