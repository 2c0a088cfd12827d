// launcher/mounts.h: builds the file system view of the command.
//
// Everything is read-only except the roots, /tmp and /dev/shm. /dev, /tmp and /proc are private.
// Hidden paths are empty. Protected paths cannot be written, replaced, or moved together with a
// parent folder. Called by P1 in its own mount namespace, before it drops privileges.
#pragma once

#include "launcher/id_maps.h"

namespace agentrt::launcher {

// False: the kernel refuses a new procfs (because the existing one is partly covered by mounts),
// and /proc is empty.
bool set_up_mounts(const Spec& spec, const IdMaps& maps, int link);

// Whether `path` is `root` or lies below it.
bool is_under(std::string_view path, std::string_view root);

}  // namespace agentrt::launcher
