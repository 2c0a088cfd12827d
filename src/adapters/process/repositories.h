// adapters/process/repositories.h: the git repositories in the folders that a command may write.
//
// The search goes through folders level by level and stops at kSearchFoldersMax; folders of
// installed packages and build outputs come last. Folders are kept with the time of their last
// change, so a search over known folders costs one stat call each. Thread-safe. Blocking.
#pragma once

#include <string>
#include <vector>

namespace agentrt::adapters {

inline constexpr std::size_t kSearchFoldersMax = 1'000;  // of one search
inline constexpr std::size_t kRepositoriesMax = 64;      // found by one search

struct Repository {
  std::string folder;        // the git folder, absolute and without symlinks
  bool made_inside = false;  // a command in the sandbox made it
};

struct Repositories {
  // In the order in which they can be mounted: one that holds another comes first.
  std::vector<Repository> folders;
  std::vector<std::string> files;  // files called .git, which name a git folder elsewhere
};

// Of every root: its own .git, nested and bare repositories, submodules, and the git folders that
// .git files and commondir name, if they lie in a root. `skipped` folders are not searched.
Repositories find_repositories(const std::vector<std::string>& roots,
                               const std::vector<std::string>& skipped);

// Remembered until this process ends: commands made the repository, so they may change all of it.
void mark_made_inside(const std::string& folder);

}  // namespace agentrt::adapters
