// adapters/files/git_state.h: the branch and state of a git repository, read from its files.
//
// Git itself is not run: it would run programs that the repository names (filters, hooks, a file
// system monitor). Whether tracked files have changed is decided as `git status` does: a file is
// unchanged if it has the size and time that the index has, or the same content. Staged changes are
// recognized by the index alone. Untracked files are not searched for.
#pragma once

#include <string>

#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kGitTimeMaxMs = 20;  // then `changed` is not determined
inline constexpr std::size_t kGitIndexBytesMax = 16 << 20;
inline constexpr std::size_t kGitFilesComparedMax = 64;       // by content
inline constexpr std::size_t kGitComparedBytesMax = 1 << 20;  // of one such file

// `root`: the folder that contains .git, a folder or a file that names one. Blocks; any thread.
std::optional<ports::GitState> read_git_state(const std::string& root);

}  // namespace agentrt::adapters
