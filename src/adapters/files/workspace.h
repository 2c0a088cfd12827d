// adapters/files/workspace.h: the instruction file of a workspace, read from disk.
#pragma once

#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::size_t kInstructionBytesMax = 256 * 1024;

// Any thread; blocks.
class DiskWorkspace final : public ports::Workspace {
 public:
  ports::Instructions instructions(const std::string& cwd) override;
};

}  // namespace agentrt::adapters
