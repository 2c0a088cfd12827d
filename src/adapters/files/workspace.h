// adapters/files/workspace.h: what a turn is told from files: AGENTS.md, skills, and the files that
// a person gives with a question.
//
// Instructions are a chain: the user's own, then those of the repository from its root down to the
// workspace; the closest come last. No link of a repository leads out of it. Files count that
// belong to the daemon's user, root or the owner of the workspace; what another user puts into a
// folder above it does not. A repository is looked for up to the home folder and not above it.
#pragma once

#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::size_t kInstructionBytesMax = 256 * 1024;  // of one file, and of all together
inline constexpr std::size_t kChainFoldersMax = 64;              // from a workspace up to its root
inline constexpr std::size_t kGivenTextBytesMax = 256 * 1024;
inline constexpr std::size_t kGivenFileBytesMax = 5 << 20;  // of an image or a document

// Any thread; blocks.
class DiskWorkspace final : public ports::Workspace {
 public:
  // `user`: the folder of the person whose runtime it is, with AGENTS.md and skills/. `home`: that
  // person's home folder; empty: none.
  explicit DiskWorkspace(std::optional<std::string> user = {}, std::string home = {})
      : user_(std::move(user)), home_(std::move(home)) {}

  ports::Instructions instructions(const std::string& cwd) override;
  ports::GivenFile given_file(const std::string& cwd, const std::string& path) override;

 private:
  std::optional<std::string> user_;
  std::string home_;
};

}  // namespace agentrt::adapters
