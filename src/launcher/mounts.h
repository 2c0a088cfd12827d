// launcher/mounts.h: the file system as the command sees it.
//
// Everything is read-only but the roots, /tmp and /dev/shm; /dev, /tmp and /proc are its own;
// hidden paths are empty and protected ones cannot be written, replaced or moved away with their
// folder. Called by P1 in a mount namespace of its own, before any right is given up.
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>

#include "launcher/link.h"

namespace agentrt::launcher {

// Who owns a root on disk; the command works in it as if it were its own.
using Owner = std::pair<uid_t, gid_t>;
// A user namespace for each owner, in which it is the command's id. Empty: ids stay as they are.
using IdMaps = std::map<Owner, int>;

// False: the kernel allows no new procfs (one that others cover in part is not fully visible), and
// /proc is empty.
bool set_up_mounts(const Spec& spec, const IdMaps& maps, int link);

// `path` is `root` or lies below it.
bool is_under(std::string_view path, std::string_view root);

}  // namespace agentrt::launcher
