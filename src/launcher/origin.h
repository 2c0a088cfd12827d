// launcher/origin.h: an origin is a launcher process that stays and is forked once per command.
//
// Starting a program is slow: at start the C library queries the processor with CPUID, which causes
// a VM exit on a virtual machine. So the runtime starts one origin, which waits for orders. A copy
// becomes a child of the runtime and continues as an ordinary launcher. The origin never reads a
// Spec, so its memory holds no data of any command. It exits when its connection closes and blocks
// all signals except SIGKILL; signals from a terminal are meant for the copies. Single-threaded.
#pragma once

#include "launcher/id_maps.h"
#include "launcher/next_spaces.h"

namespace agentrt::launcher {

// Serves orders on kControlFd. Returns true in a copy: its descriptors are in place, `maps` holds
// the id maps of its roots, `spaces` the prepared namespaces if there are any, and `copies` the
// file of held files if one was sent. Returns false in the origin when the connection has closed.
bool become_copy(IdMaps& maps, NextSpaces& spaces, Fd& copies);

}  // namespace agentrt::launcher
