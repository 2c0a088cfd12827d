// adapters/files/git_excludes.h: the user's global git excludes, which apply in every repository.
//
// Git reads them from the file that core.excludesFile names, or else from git/ignore in the user's
// configuration folder. The setting is read here without running git: from git/config in that
// folder, then from ~/.gitconfig, where the last value counts. include.path is followed; includeIf
// and the settings of the system and of a repository are not. Blocks on the disk. Any thread.
#pragma once

#include <cstddef>
#include <string>

namespace agentrt::adapters {

inline constexpr std::size_t kGitConfigBytesMax = 256 << 10;  // per file; a longer one is cut
inline constexpr std::size_t kGitConfigFilesMax = 16;         // read in total, with included ones
inline constexpr std::size_t kGitExcludesBytesMax = 256 << 10;

struct GitUser {
  std::string home;         // $HOME, absolute; empty: unknown
  std::string config_home;  // $XDG_CONFIG_HOME; empty: HOME/.config
};

// The text of the exclude file; empty if there is none, or if it is not a readable regular file.
std::string git_excludes(const GitUser& user);

}  // namespace agentrt::adapters
