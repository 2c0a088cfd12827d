// adapters/files/open_file.h: files of a workspace, opened so that no link leads out of it.
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

// Whether links may lead out of the folder: those of a workspace may not, a person's own may.
enum class Links { beneath, anywhere };

// A descriptor of `path` beneath the folder; below 0, with errno, where it cannot be opened. A
// named pipe does not block it. Links::beneath opens with the rights of a command
// (adapters/files/acting_as.h), and refuses a folder that is a symlink or lies below one.
int open_in(const std::string& folder, const std::string& path, Links links);

std::string read_at_most(int fd, std::size_t bytes_max);

// A file of text as part of a turn's context.
struct ContextFile {
  enum class What { absent, read, unusable };
  What what = What::absent;
  std::string text;
  schema::ContextRef ref;  // with a digest where it was read, with a reason where it is unusable
};
// The users whose files count; empty: everybody's.
using Owners = std::vector<uid_t>;
ContextFile read_context_file(const std::string& folder, const std::string& path, Links links,
                              std::size_t bytes_max, const Owners& owners = {});

}  // namespace agentrt::adapters
