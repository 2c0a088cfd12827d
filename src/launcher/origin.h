// launcher/origin.h: a launcher that stays, and is copied for each command.
//
// To start a program costs more than much of what this one does: the C library asks the processor
// what it can do, and on a virtual machine each such question leaves the machine. So the runtime
// starts an origin once, which only waits; a copy of it for a command is born as a child of the
// runtime and goes on as any launcher. The origin never reads a spec: nothing of one command is in
// the memory of the next. It ends with its connection, and no other signal than SIGKILL ends it:
// those from a terminal are meant for the copies. One thread.
#pragma once

#include "launcher/id_maps.h"
#include "launcher/next_spaces.h"

namespace agentrt::launcher {

// Answers orders. Returns true in a copy, which has its descriptors in place, the maps of its
// owners and, where it could get ready before, a network; false once nobody is connected any more.
bool become_copy(IdMaps& maps, NextSpaces& spaces, Fd& copies);

}  // namespace agentrt::launcher
