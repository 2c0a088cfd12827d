// config/folders.h: decides in which folders of this machine sessions may be opened
// (policy/folders.h), with symlinks resolved.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "policy/folders.h"
#include "ports/folders.h"

namespace agentrt::config {

// The name of the user that this process runs as, from /etc/passwd; its number if it has none.
std::string user_name();

class DiskFolders final : public ports::Folders {
 public:
  // Thread-safe: immutable after construction.
  DiskFolders(const Config& config, std::string workspace, const std::string& data,
              const Environment& environment);

  schema::FolderFinding judge(const schema::FolderChoice& choice,
                              const schema::FolderGrant& grant) override;

 private:
  policy::FolderRules rules_;
};

}  // namespace agentrt::config
