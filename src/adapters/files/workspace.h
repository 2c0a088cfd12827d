// adapters/files/workspace.h: the instruction file of a workspace, and the files that a person
// gives with a question, read from disk. Neither leads out of the workspace, whatever links are in
// it.
#pragma once

#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::size_t kInstructionBytesMax = 256 * 1024;
inline constexpr std::size_t kGivenTextBytesMax = 256 * 1024;
inline constexpr std::size_t kGivenFileBytesMax = 5 << 20;  // of an image or a document

// Any thread; blocks.
class DiskWorkspace final : public ports::Workspace {
 public:
  ports::Instructions instructions(const std::string& cwd) override;
  ports::GivenFile given_file(const std::string& cwd, const std::string& path) override;
};

}  // namespace agentrt::adapters
