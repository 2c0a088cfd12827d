// kernel/testing/fake_authorization.h: for kernel tests, which may not include channels: authorizes
// every command.
#pragma once

#include "ports/control_plane.h"

namespace agentrt::channels {

// Replaces the real class, which the kernel's test program does not link.
class Authorization {
 public:
  static ports::Authorized<schema::Command> command(schema::Command command, ports::Caller caller) {
    return {std::move(command), std::move(caller)};
  }
};

}  // namespace agentrt::channels
