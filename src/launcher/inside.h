// launcher/inside.h: the first process inside: it builds the sandbox around itself, starts the
// command and waits for it.
//
// Everything is given up before the command's process exists: nothing inside ever has a right that
// the command has not. When this process ends, the kernel ends all others inside.
#pragma once

#include "launcher/mounts.h"
#include "launcher/next_spaces.h"

namespace agentrt::launcher {

// The descriptors that P1 is born with.
struct Inside {
  int link = -1;                    // to the supervisor
  int lifeline = -1;                // readable once the supervisor is gone
  int exec_pipe = -1;               // closed by a successful exec
  int gate = -1;                    // a byte: the command may go; end: it may not
  int in = -1, out = -1, err = -1;  // the command's own; unused with a terminal
  const IdMaps* maps = nullptr;     // under root: owners of the roots
  const NextSpaces* spaces = nullptr;
};

// What exec_pipe carries.
inline constexpr char kGoing = 'x';  // written just before exec; an errno behind it: it failed

[[noreturn]] void run_inside(const Spec& spec, const Inside& inside);

}  // namespace agentrt::launcher
