// launcher/landlock.h: the Landlock layer, a second restriction of files, signals and local
// sockets.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Restricts this process and its children. Returns the kernel's Landlock ABI version; 0: not
// supported. If the kernel supports it but refuses, P1 ends.
int restrict_with_landlock(const Spec& spec, int link);

}  // namespace agentrt::launcher
