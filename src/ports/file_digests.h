// ports/file_digests.h: the port that reads the content of workspace files, to compare it with what
// the log says about them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace agentrt::ports {

struct FileDigestQuery {
  SessionId session;
  std::string workspace;
  std::vector<std::string> additional_roots;
  std::vector<std::string> paths;  // absolute
};

// What is at a path now.
struct FileDigest {
  bool known = false;                 // false: it cannot be read, or may not
  std::optional<std::string> digest;  // sha256:…; absent: there is no file
};

class FileDigests {
 public:
  virtual ~FileDigests() = default;
  // One entry per path. Reads only files that the file tools may read in this session. Blocks;
  // called on a Worker.
  virtual std::vector<FileDigest> digests(const FileDigestQuery& query) = 0;
};

}  // namespace agentrt::ports
