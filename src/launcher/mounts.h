// launcher/mounts.h: the file system as the command sees it.
//
// Everything is read-only but the roots, /tmp and /dev/shm; /dev, /tmp and /proc are its own;
// hidden paths are empty and protected ones cannot be written, replaced or moved away with their
// folder. Called by P1 in a mount namespace of its own, before any right is given up.
#pragma once

#include "launcher/id_maps.h"

namespace agentrt::launcher {

// False: the kernel allows no new procfs (one that others cover in part is not fully visible), and
// /proc is empty.
bool set_up_mounts(const Spec& spec, const IdMaps& maps, int link);

// `path` is `root` or lies below it.
bool is_under(std::string_view path, std::string_view root);

}  // namespace agentrt::launcher
