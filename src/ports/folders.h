// ports/folders.h: the port that validates the folders a client names. Every command and protocol
// uses this one check.
#pragma once

#include "schema/folders.h"

namespace agentrt::ports {

class Folders {
 public:
  virtual ~Folders() = default;
  // Resolves the symlinks of every folder and checks it against the grant. Blocks on the disk. Any
  // thread.
  virtual schema::FolderFinding judge(const schema::FolderChoice& choice,
                                      const schema::FolderGrant& grant) = 0;
};

}  // namespace agentrt::ports
