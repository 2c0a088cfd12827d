// adapters/web/may_connect.h: whether web_fetch may connect to an address: it must be public.
//
// The function is alone in its source file, so that a program for tests can link another definition
// that also accepts a server on this machine (tests/web). The product has no switch for it.
#pragma once

#include <sys/socket.h>

namespace agentrt::adapters {

// Any thread.
bool may_connect(const sockaddr& address);

}  // namespace agentrt::adapters
