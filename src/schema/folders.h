// schema/folders.h: the folders that a command names, the folders that its caller may choose, and
// the result of checking them before the command is decided.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace agentrt::schema {

inline constexpr std::size_t kAdditionalRootsMax = 64;  // per session
inline constexpr std::size_t kFolderBytesMax = 4'096;   // the length of one path

// The folders of a session: the workspace and additional folders.
struct FolderChoice {
  std::optional<std::string> cwd;  // default: the daemon's own workspace
  std::vector<std::string> additional_roots;

  bool operator==(const FolderChoice&) const = default;
};

// Which folders the caller may choose. The default is the strictest: only the daemon's workspace
// and the configured roots.
struct FolderGrant {
  bool any = false;                   // scope approve: any folder except system folders
  bool bound = false;                 // a token bound to one session: exactly one folder
  std::optional<std::string> folder;  // of a bound token, without symlinks; default: the workspace
  // The folder that the caller itself runs in. A session that names no folder is opened there if
  // the runtime has no workspace of its own.
  std::optional<std::string> started_in;

  bool operator==(const FolderGrant&) const = default;
};

struct FolderFinding {
  FolderChoice folders;          // as chosen, with symlinks resolved
  std::optional<Error> refusal;  // why the caller may not open a session there
};

}  // namespace agentrt::schema
