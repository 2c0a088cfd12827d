#include "config/laxity.h"

namespace agentrt::config {

using schema::PermissionMode;
using schema::SandboxMode;

namespace {

int act_rank(PermissionMode mode) {
  switch (mode) {
    case PermissionMode::plan:
      return 0;
    case PermissionMode::never:
      return 1;
    case PermissionMode::untrusted:
      return 2;
    case PermissionMode::default_:
      return 2;
    case PermissionMode::on_request:
      return 3;
    case PermissionMode::on_failure:
      return 4;
    case PermissionMode::auto_:
      return 5;
    case PermissionMode::bypass:
      return 6;
  }
  return 6;
}

}  // namespace

bool at_most_as_lax(PermissionMode a, PermissionMode b) {
  // Compares two properties: acting without asking, and reading without asking.
  const bool reads_a = a != PermissionMode::untrusted;
  const bool reads_b = b != PermissionMode::untrusted;
  return act_rank(a) <= act_rank(b) && (!reads_a || reads_b);
}

bool at_most_as_lax(SandboxMode a, SandboxMode b) {
  return static_cast<int>(a) <= static_cast<int>(b);
}

}  // namespace agentrt::config
