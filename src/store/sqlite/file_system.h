// store/sqlite/file_system.h: checks of the folder and files of the store.
//
// SQLite's write-ahead log needs shared memory and reliable file locks. Network file systems do not
// provide them, and a store there would silently lose data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::store {

// The name of the network file system with this statfs f_type; nullopt: not a network file system.
std::optional<std::string_view> network_file_system(std::uint64_t type);

// Fails if the folder is missing or on a network file system.
Result<void> check_folder_of(const std::string& path);
// Creates an empty file with mode 0600, unless it exists.
Result<void> create_private_file(const std::string& path);
// Identifies the file at a path; nullopt: there is none.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  bool operator==(const FileId&) const = default;
};
std::optional<FileId> file_id(const std::string& path);

// The header of a database file.
struct FileHeader {
  bool sqlite = false;                      // the header, possibly truncated, is SQLite's
  std::optional<std::int64_t> application;  // PRAGMA application_id; nullopt: the file is too short
  std::uint64_t bytes = 0;
  std::uint64_t bytes_expected = 0;  // according to the header; at least the header's size
};
// REQUIRES: this process holds no lock on the file that it still needs; closing the file drops
// them.
Result<FileHeader> read_header(const std::string& path);

// Syncs the folder's entries. SQLite also does this for new files, but hides a failure.
Result<void> sync_folder_of(const std::string& path);

}  // namespace agentrt::store
