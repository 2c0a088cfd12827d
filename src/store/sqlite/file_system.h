// store/sqlite/file_system.h: what the store needs of the folder it lives in.
//
// SQLite's write-ahead log shares memory between connections and trusts file locks, which network
// file systems do not keep: a store there would lose data without a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::store {

// The name of the network file system with this statfs f_type, if it is one.
std::optional<std::string_view> network_file_system(std::uint64_t type);

// Refuses a folder that is missing or on a network file system.
Result<void> check_folder_of(const std::string& path);
// Makes an empty file that only its owner can read, unless there is one.
Result<void> create_private_file(const std::string& path);
// Syncs the folder's own entries. SQLite does this for new files too but hides a failure.
Result<void> sync_folder_of(const std::string& path);

}  // namespace agentrt::store
