// adapters/tools/beneath.h: paths opened beneath a folder that is held open, and nowhere else.
//
// The kernel walks the path, so nothing can be swapped between a check and its use: what was opened
// is what is judged, read and replaced. Handles are opened without rights to the bytes (O_PATH):
// no device is woken and no named pipe waited for before anybody knows what stands there.
//
// Errors are those of the system, as errno. Any thread.
#pragma once

#include <fcntl.h>

#include <expected>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace agentrt::adapters::tools {

enum class Links { follow, refuse };

// A path with `..` in it may have to be walked again when a folder is moved meanwhile.
inline constexpr int kWalkAgainMax = 64;

// A handle of what stands at `path` beneath `folder`. Links that stay beneath are followed or
// refused (ELOOP); what leads out is EXDEV.
std::expected<Descriptor, int> open_beneath(int folder, const std::string& path, Links links,
                                            int flags = O_PATH);

// The same for a link that is absolute and leads back in, which the kernel refuses by its letters:
// where it leads is looked up, then opened anew without any link.
std::expected<Descriptor, int> open_back_in(int folder, const std::string& folder_path,
                                            const std::string& path);

// What the handle stands for, opened again with rights.
std::expected<Descriptor, int> reopen(const Descriptor& handle, int flags);

// Where it stands now, without links. Nothing: it stands nowhere any more.
std::optional<std::string> path_of(const Descriptor& handle);

}  // namespace agentrt::adapters::tools
