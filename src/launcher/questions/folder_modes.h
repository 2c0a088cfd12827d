// launcher/questions/folder_modes.h: sets the setgid bit of a folder on behalf of the command.
//
// The seccomp filter stops every call that sets the setuid or the setgid bit, because a program
// with one runs as its owner or group. On a folder the setgid bit has another meaning: new entries
// get the folder's group. That gives nobody rights: the kernel sets it only for a group of the
// caller, and no entry inherits the bit but folders. `git init --shared` needs it.
//
// The filter sees neither the path nor what is there, and between a check and the kernel's own
// look-up the command could put a file in place of the folder. So the supervisor opens the folder
// through the command's own mounts, checks what it has opened, and sets the mode of that.
#pragma once

#include <optional>

#include "launcher/questions/asker.h"

namespace agentrt::launcher {

// Performs the call with the command's rights. Returns its errno, 0 for success. nullopt: it is not
// a chmod that sets the setgid bit alone on a folder, and must be refused.
// `as_command`: the launcher runs as root, and the command as another user.
std::optional<int> set_folder_mode(const Asker& asker, bool as_command);

}  // namespace agentrt::launcher
