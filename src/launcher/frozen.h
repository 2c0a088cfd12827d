// launcher/frozen.h: freezes folders, so that a command sees only the entries they had when it
// started.
//
// A hidden path that does not exist yet cannot be covered by a mount. So its parent folder is
// replaced by an empty one in which every current entry, except hidden ones, is mounted again.
// Entries created later do not appear in the sandbox, under any name.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

// Entries of a frozen folder, including frozen folders inside it; further entries are not shown.
inline constexpr std::size_t kFrozenEntriesMax = 2'048;

// Called by P1 after everything except the roots is read-only.
void freeze_folders(const Spec& spec, int link);

}  // namespace agentrt::launcher
