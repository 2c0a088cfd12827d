// launcher/outside.h: creates the sandbox resources that must be made outside it, while P1 builds
// the rest inside.
//
// P1 may not map its own ids. Cgroups and the identity could be created before P1 starts, but that
// would delay the command. So the supervisor creates them while P1 sets up its mounts, and P1 waits
// for them only when it needs them.
#pragma once

#include <sys/types.h>

#include "launcher/cgroup.h"

namespace agentrt::launcher {

// Called by the supervisor after P1 started. Creates `groups`. `left`: a process that is ending and
// must be reaped later. Returns what failed, with errno set; empty: success.
std::string prepare_outside(const Spec& spec, pid_t init, int link, CommandGroups& groups,
                            pid_t& left);

struct Prepared {
  std::vector<Fd> cgroups;         // the files through which to enter them
  bool memory_limited = false;     // by the cgroups
  bool processes_limited = false;  // by the cgroups
  Fd identity;                     // under root: the user namespace to enter
};

// Called by P1; both block. False: the supervisor is gone, or its message is incomplete.
bool await_ids(int link);
bool await_prepared(int link, Prepared& prepared);

}  // namespace agentrt::launcher
