// adapters/files/workspace.h: reads a turn's context from files: AGENTS.md, skills, files that the
// user attaches, and the state of the git repository.
//
// A folder without AGENTS.md may have CLAUDE.md instead. Instructions form a chain: the user's own,
// then those of the repository from its root down to the workspace, so the closest come last.
// Symlinks must not lead out of the repository. Only files of the daemon's user, root or the
// workspace's owner are used, so other users cannot inject instructions from a parent folder. The
// search for the repository's root stops at the home folder.
#pragma once

#include "ports/outputs.h"
#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::size_t kInstructionBytesMax = 256 * 1024;  // per file, and in total
inline constexpr std::size_t kChainFoldersMax = 64;              // from a workspace up to its root
inline constexpr std::size_t kGivenTextBytesMax = 256 * 1024;
inline constexpr std::size_t kGivenFileBytesMax = 5 << 20;  // per image or document
inline constexpr int kOutputWaitMs = 30'000;  // for a worker that opens or reads an output

// Any thread; blocks.
class DiskWorkspace final : public ports::Workspace {
 public:
  // `user`: the user's configuration folder, with AGENTS.md and skills/. `home`: the user's home
  // folder; empty: none.
  // `outputs`: opens the outputs of sessions; null: there are none. Its worker must not be the
  // thread that calls given_output(), which waits for it.
  explicit DiskWorkspace(std::optional<std::string> user = {}, std::string home = {},
                         ports::Outputs* outputs = nullptr)
      : user_(std::move(user)), home_(std::move(home)), outputs_(outputs) {}

  ports::Instructions instructions(const std::string& cwd) override;
  std::optional<ports::GitState> git(const std::string& cwd) override;
  ports::GivenFile given_file(const std::string& cwd, const std::string& path) override;
  ports::GivenFile given_output(const SessionId& session, const std::string& ref) override;

 private:
  std::optional<std::string> user_;
  std::string home_;
  ports::Outputs* outputs_;
};

}  // namespace agentrt::adapters
