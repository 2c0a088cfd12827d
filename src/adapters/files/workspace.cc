#include "adapters/files/workspace.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "adapters/files/media_type.h"
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

// A descriptor of the file beneath the folder; below 0 where there is none. Links that lead out of
// it are not followed, and a named pipe holds nobody up.
int open_beneath(const std::string& folder, const std::string& path) {
  const Descriptor root{::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (root.get() < 0) return -1;
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how));
}

}  // namespace

ports::GivenFile DiskWorkspace::given_file(const std::string& cwd, const std::string& path) {
  ports::GivenFile out;
  out.ref.ref = "file:" + path;
  const std::string inner = path.starts_with(cwd + "/") ? path.substr(cwd.size() + 1) : path;
  const Descriptor file{open_beneath(cwd, inner)};
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    out.ref.reason = "there is no such file in the workspace that can be read";
    return out;
  }
  if (!S_ISREG(info.st_mode)) {
    out.ref.reason = "it is not a regular file";
    return out;
  }
  std::string bytes = read_at_most(file.get(), kGivenFileBytesMax + 1);
  out.ref.size = bytes.size();
  const std::string_view media_type = media_type_of(bytes);
  const std::size_t most = media_type.empty() ? kGivenTextBytesMax : kGivenFileBytesMax;
  if (bytes.size() > most) {
    out.ref.reason = fmt::format("it is larger than {} bytes", most);
    return out;
  }
  if (media_type.empty() && bytes.contains('\0')) {
    out.ref.reason = "it is neither text nor an image nor a PDF document";
    return out;
  }
  out.ref.digest = "sha256:" + hex(bytes_of(sha256(bytes)));
  if (media_type.empty())
    out.text = std::move(bytes);
  else
    out.attachment = ports::Attachment{path.substr(path.rfind('/') + 1), std::string(media_type),
                                       std::move(bytes)};
  return out;
}

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
