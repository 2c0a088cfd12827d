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
// Which file a path leads to; nothing where it leads to none.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  bool operator==(const FileId&) const = default;
};
std::optional<FileId> file_id(const std::string& path);

// What the first bytes of a database file say of it.
struct FileHeader {
  bool sqlite = false;                      // as far as it goes, the header is SQLite's
  std::optional<std::int64_t> application;  // PRAGMA application_id; absent: the file ends before
  std::uint64_t bytes = 0;
  std::uint64_t bytes_expected = 0;  // by the header; at least a header's
};
// REQUIRES: this process has no use for its locks on the file any more: closing it drops them.
Result<FileHeader> read_header(const std::string& path);

// Syncs the folder's own entries. SQLite does this for new files too but hides a failure.
Result<void> sync_folder_of(const std::string& path);

}  // namespace agentrt::store
