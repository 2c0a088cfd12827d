// adapters/files/open_file.h: opens workspace files without following a symlink out of the
// workspace.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/facts/context.h"

namespace agentrt::adapters {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

// Whether symlinks may lead out of the folder: not in a workspace, but in the user's own folder.
enum class Links { beneath, anywhere };

// Opens `path` beneath the folder. Returns a descriptor, or a negative value with errno set. Does
// not block on a named pipe. Links::beneath opens with the rights of a command
// (adapters/files/acting_as.h) and refuses a folder whose path contains a symlink.
int open_in(const std::string& folder, const std::string& path, Links links);

std::string read_at_most(int fd, std::size_t bytes_max);

// A text file used as part of a turn's context.
struct ContextFile {
  enum class What { absent, read, unusable };
  What what = What::absent;
  std::string text;
  schema::ContextRef ref;  // with a digest if read, with a reason if unusable
};
// Files of other owners are not used; empty: any owner.
using Owners = std::vector<uid_t>;
ContextFile read_context_file(const std::string& folder, const std::string& path, Links links,
                              std::size_t bytes_max, const Owners& owners = {});

}  // namespace agentrt::adapters
