// launcher/guarded/names.h: decides which names in a guarded folder a command may write.
//
// A guarded folder is read-only except for entries that match a list of patterns. A pattern is a
// path relative to the folder; `*` matches any characters within one name.
//   index                      the file, and index.lock
//   logs/                      the folder, and everything below it
//   +worktrees/*/gitdir        the file may be created and removed, but not changed
//   +worktrees/*/commondir=X   the same, and its content becomes X whatever is written
// Folders on the path of a pattern (worktrees, worktrees/N) may be created and removed. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::launcher {

enum class Access {
  none,
  way,         // a folder above a writable name: may be created and removed
  new_file,    // may be created and removed
  everything,  // may be created, changed, renamed and removed
};

struct Writable {
  Access access = Access::none;
  std::optional<std::string> content = {};  // forced content of a created file
};

// `path` is relative to the guarded folder, without `.`, `..` or empty names.
Writable writable(const std::vector<std::string>& patterns, std::string_view path);

// The names of patterns of the form `NAME/`: folders that are entirely writable.
std::vector<std::string> whole_folders(const std::vector<std::string>& patterns);

}  // namespace agentrt::launcher
