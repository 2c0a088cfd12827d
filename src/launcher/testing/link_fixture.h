// launcher/testing/link_fixture.h: a link between the parts of a launcher.
#pragma once

#include <sys/socket.h>

#include "launcher/link.h"

namespace agentrt::launcher {

struct Link {
  Link() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    outside = Fd(ends[0]);
    inside = Fd(ends[1]);
  }
  Fd outside, inside;  // invalid if socketpair failed
};

}  // namespace agentrt::launcher
