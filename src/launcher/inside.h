// launcher/inside.h: P1, the first process inside the sandbox: it builds the sandbox around itself,
// starts the command and waits for it.
//
// P1 drops all privileges before it creates the command's process, so no process inside ever has a
// right that the command lacks. When P1 ends, the kernel kills all other processes inside.
#pragma once

#include "launcher/mounts.h"
#include "launcher/next_spaces.h"

namespace agentrt::launcher {

// The descriptors that P1 inherits.
struct Inside {
  int link = -1;                    // to the supervisor
  int lifeline = -1;                // readable once the supervisor is gone
  int exec_pipe = -1;               // closed by a successful exec
  int gate = -1;                    // a byte releases the command; end of file cancels it
  int in = -1, out = -1, err = -1;  // the command's stdio; unused with a terminal
  const IdMaps* maps = nullptr;     // under root: owners of the roots
  const NextSpaces* spaces = nullptr;
};

// The protocol of exec_pipe.
inline constexpr char kGoing = 'x';  // sent just before exec; an errno follows if exec failed

[[noreturn]] void run_inside(const Spec& spec, const Inside& inside);

}  // namespace agentrt::launcher
