// base/real_path.h: resolves symlinks.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace agentrt {

// Resolves symlinks; returns a path that does not exist unchanged. Blocks on the disk.
std::string real_path(const std::string& path);
// The same for a path that is open as `found`; an empty descriptor means that it does not exist.
std::string real_path(const std::string& path, const Descriptor& found);

}  // namespace agentrt
