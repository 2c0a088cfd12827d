// ports/folders.h: the one check of folders that a caller names, whatever command or protocol names
// them.
#pragma once

#include "schema/folders.h"

namespace agentrt::ports {

class Folders {
 public:
  virtual ~Folders() = default;
  // Resolves the symlinks of every folder and judges it. Blocks: it looks at the disk. Any thread.
  virtual schema::FolderFinding judge(const schema::FolderChoice& choice,
                                      const schema::FolderGrant& grant) = 0;
};

}  // namespace agentrt::ports
