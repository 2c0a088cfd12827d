#include "adapters/files/workspace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/digest.h"

namespace agentrt::adapters {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string read_at_most(int fd, std::size_t bytes_max) {
  std::string text;
  char chunk[16 * 1024];
  ssize_t got = 0;
  while (text.size() < bytes_max && (got = ::read(fd, chunk, sizeof chunk)) > 0)
    text.append(chunk, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

ports::Instructions DiskWorkspace::instructions(const std::string& cwd) {
  ports::Instructions out;
  const std::string path = cwd + "/AGENTS.md";
  // A named pipe of that name must not hold the worker up.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return out;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size > kInstructionBytesMax) {
    out.omitted.push_back({.ref = "file:" + path,
                           .digest = {},
                           .size = size,
                           .reason = S_ISREG(info.st_mode)
                                         ? fmt::format("larger than {} bytes", kInstructionBytesMax)
                                         : std::string("not a regular file")});
    return out;
  }
  out.text = read_at_most(file.get(), kInstructionBytesMax);
  out.refs.push_back({.ref = "file:" + path,
                      .digest = "sha256:" + hex(bytes_of(sha256(out.text))),
                      .size = out.text.size(),
                      .reason = {}});
  return out;
}

}  // namespace agentrt::adapters
