// adapters/tools/beneath.h: opens paths strictly beneath a folder that is held open.
//
// The kernel resolves the path (openat2), so nothing can be swapped between a check and its use:
// the handle that was checked is the one that is read and replaced. Handles are opened with O_PATH,
// without access to the bytes, so opening never activates a device or blocks on a named pipe.
//
// Errors are errno values. Any thread.
#pragma once

#include <fcntl.h>

#include <expected>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace agentrt::adapters::tools {

enum class Links { follow, refuse };

// How often a path with `..` is resolved again if a folder is moved meanwhile.
inline constexpr int kWalkAgainMax = 64;

// Opens `path` beneath `folder`. Symlinks that stay beneath are followed or refused (ELOOP); a path
// that leads out fails with EXDEV.
std::expected<Descriptor, int> open_beneath(int folder, const std::string& path, Links links,
                                            int flags = O_PATH);

// The same for an absolute symlink that leads back beneath the folder, which openat2 refuses.
// Resolves the target first, then opens it without following any symlink.
std::expected<Descriptor, int> open_back_in(int folder, const std::string& folder_path,
                                            const std::string& path);

// Reopens the same file with other flags (access rights).
std::expected<Descriptor, int> reopen(const Descriptor& handle, int flags);

// The current absolute path, without symlinks. Empty: the file no longer has a path.
std::optional<std::string> path_of(const Descriptor& handle);

}  // namespace agentrt::adapters::tools
