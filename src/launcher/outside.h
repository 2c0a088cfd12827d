// launcher/outside.h: what a sandbox needs made outside of it, while P1 builds the rest inside.
//
// P1 has not the right to map its ids; cgroups and an identity could be made before it, but whoever
// waits for the command would wait for them too. So the supervisor makes them while P1 sets up its
// mounts, and P1 takes them when it can go on no further without.
#pragma once

#include <sys/types.h>

#include "launcher/cgroup.h"

namespace agentrt::launcher {

// By the supervisor, once P1 is there; `groups` are made. `left`: a process that is about to end,
// to be waited for at the end. What failed, with errno; empty: nothing.
std::string prepare_outside(const Spec& spec, pid_t init, int link, CommandGroups& groups,
                            pid_t& left);

struct Prepared {
  std::vector<Fd> cgroups;         // the files to enter them by
  bool memory_limited = false;     // by them
  bool processes_limited = false;  // by them
  Fd identity;                     // under root: the user namespace to enter
};

// By P1; both wait. False: the supervisor is gone, or what it gave has not come whole.
bool await_ids(int link);
bool await_prepared(int link, Prepared& prepared);

}  // namespace agentrt::launcher
