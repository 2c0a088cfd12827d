// launcher/frozen.h: folders in which a command sees only what they held when it started.
//
// A path that is to be hidden and does not exist yet cannot be covered by a mount. So the folder
// above it becomes an empty one in which every entry that it has now, except for hidden ones, is
// mounted again; what is made in it later does not appear in the sandbox, under whatever name.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Entries of one frozen folder and those within it; a fuller one shows no more than these.
inline constexpr std::size_t kFrozenEntriesMax = 2'048;

// Called by P1 when everything but the roots is read-only.
void freeze_folders(const Spec& spec, int link);

}  // namespace agentrt::launcher
