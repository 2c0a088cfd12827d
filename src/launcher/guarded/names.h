// launcher/guarded/names.h: which names of a guarded folder a command may write.
//
// A guarded folder is read-only except for the entries that a list of patterns names. A pattern is
// a path relative to the folder; `*` stands for any characters of one name.
//   index                      the file, and index.lock
//   logs/                      the folder, and everything below it
//   +worktrees/*/gitdir        the file may be created and removed, never changed
//   +worktrees/*/commondir=X   as before, and it gets the content X whatever is written to it
// Folders on the way to a pattern (worktrees, worktrees/N) may be made and removed. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::launcher {

enum class Access {
  none,
  way,         // a folder above a writable name: it may be made and removed
  new_file,    // may be created and removed
  everything,  // may be created, changed, renamed and removed
};

struct Writable {
  Access access = Access::none;
  std::optional<std::string> content = {};  // that a created file gets, in place of what is written
};

// `path` is relative to the guarded folder, without `.`, `..` and empty names.
Writable writable(const std::vector<std::string>& patterns, std::string_view path);

// The names of the patterns `NAME/`: folders that are writable as a whole.
std::vector<std::string> whole_folders(const std::vector<std::string>& patterns);

}  // namespace agentrt::launcher
