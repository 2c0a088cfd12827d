// schema/file_tools.h: the change that a call makes to a file, and the limit of a tool result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schema/codec.h"

namespace agentrt::schema {

// restore: the file gets back an earlier content, or is removed as it did not exist then.
BOOST_DEFINE_ENUM_CLASS(FileChangeKind, create, update, restore)

// A change that a call is about to make to a file. It is stored before the file changes. After a
// crash, the digest of the file shows whether the change happened, or whether another program
// changed the file.
struct FileChange {
  std::string path;  // absolute, without symlinks
  FileChangeKind kind = FileChangeKind::update;
  std::optional<std::string> before;  // sha256:…; absent: the file did not exist
  std::optional<std::string> after;   // absent: the file is removed
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
  std::optional<std::string> diff_ref;  // a unified diff
  // The old content, where the diff and the new content do not give it.
  std::optional<std::string> previous_ref = {};

  bool operator==(const FileChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(FileChange, (),
                      (path, kind, before, after, lines_added, lines_removed, diff_ref,
                       previous_ref))

// Limit of a tool result in bytes. The result is stored in a fact and sent to the model.
inline constexpr std::size_t kToolTextBytesMax = 32 * 1024;

}  // namespace agentrt::schema
