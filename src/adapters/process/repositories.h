// adapters/process/repositories.h: finds the git repositories in the folders that a command may
// write.
//
// The search is breadth-first and stops after kSearchFoldersMax folders; folders of installed
// packages and build outputs come last. Folder listings are cached by change time, so searching
// known folders costs one stat call each. Thread-safe. Blocking.
#pragma once

#include <string>
#include <vector>

namespace agentrt::adapters {

inline constexpr std::size_t kSearchFoldersMax = 1'000;  // per search
inline constexpr std::size_t kRepositoriesMax = 64;      // per search

struct Repository {
  std::string folder;        // the git folder, absolute and without symlinks
  bool made_inside = false;  // created by a command in the sandbox
};

struct Repositories {
  // In mount order: a folder precedes the folders inside it.
  std::vector<Repository> folders;
  std::vector<std::string> files;  // files named .git, which point to a git folder elsewhere
};

// Finds in every root: its own .git, nested and bare repositories, submodules, and the git folders
// that .git and commondir files point to, if they lie in a root. `skipped` folders are not
// searched.
Repositories find_repositories(const std::vector<std::string>& roots,
                               const std::vector<std::string>& skipped);

// Records until this process ends that commands created the repository. Commands may then change
// all of it.
void mark_made_inside(const std::string& folder);

}  // namespace agentrt::adapters
