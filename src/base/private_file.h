// base/private_file.h: small files with secrets, which only their owner may read: mode 0600.
//
// Every write is atomic: it writes and syncs a temporary file in the same folder, moves it into
// place, and syncs the folder. After a crash the file has its old or its new content. Errors are
// `unavailable` and name the file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt {

// What to do with a file that others may read too.
enum class WiderMode { narrow, refuse };

// nullopt: the file does not exist. Does not follow a symlink. Errors: unavailable, also for a file
// of more than `bytes_max` bytes.
Result<std::optional<std::string>> read_private_file(const std::string& path, std::size_t bytes_max,
                                                     WiderMode wider);
// Replaces the file.
Result<void> write_private_file(const std::string& path, std::string_view bytes);
// Makes the file, which must not exist.
Result<void> make_private_file(const std::string& path, std::string_view bytes);
// Removes the file; it may be missing.
Result<void> remove_private_file(const std::string& path);
// Makes the folder with mode 0700 if it is missing.
Result<void> make_private_folder(const std::string& path);

}  // namespace agentrt
