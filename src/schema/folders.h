// schema/folders.h: the folders that a command names, who names them, and what was found out about
// them before the command is decided.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace agentrt::schema {

inline constexpr std::size_t kAdditionalRootsMax = 64;  // per session
inline constexpr std::size_t kFolderBytesMax = 4'096;   // the length of one path

// The folders of a session: the workspace, and further ones beside it.
struct FolderChoice {
  std::optional<std::string> cwd;  // absent: the daemon's own workspace
  std::vector<std::string> additional_roots;

  bool operator==(const FolderChoice&) const = default;
};

// Which folders the caller may choose. The default is the strictest: the daemon's workspace and the
// configured roots.
struct FolderGrant {
  bool any = false;                   // scope approve: every folder but those of the system
  bool bound = false;                 // a token of one session: one folder and no other
  std::optional<std::string> folder;  // of a bound token, without symlinks; absent: the workspace

  bool operator==(const FolderGrant&) const = default;
};

struct FolderFinding {
  FolderChoice folders;          // as chosen, without symlinks
  std::optional<Error> refusal;  // why the caller may not open a session there
};

}  // namespace agentrt::schema
