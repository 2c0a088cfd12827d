// launcher/landlock.h: the kernel's second opinion on files, signals and local sockets.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Restricts this process and all it starts. Returns the ABI of the kernel that did it, 0 when the
// kernel has none; a kernel that has it and refuses ends P1.
int restrict_with_landlock(const Spec& spec, int link);

}  // namespace agentrt::launcher
