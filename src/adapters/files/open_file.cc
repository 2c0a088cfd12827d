#include "adapters/files/open_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "adapters/files/acting_as.h"
#include "base/digest.h"

namespace agentrt::adapters {

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int open_in(const std::string& folder, const std::string& path, Links links) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  // A session's folder paths were resolved; a symlink found now was added since.
  if (links == Links::beneath) how.resolve = RESOLVE_NO_SYMLINKS;
  const Descriptor root{
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, folder.c_str(), &how, sizeof how))};
  if (root.get() < 0) return -1;
  if (links == Links::anywhere) return ::openat(root.get(), path.c_str(), kFlags);
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  struct stat owner{};
  if (::fstat(root.get(), &owner) != 0) return -1;
  const ActingAs acting({owner.st_uid, owner.st_gid});
  if (!acting.in_force()) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how));
}

std::string read_at_most(int fd, std::size_t bytes_max) {
  std::string text;
  char chunk[16 * 1024];
  ssize_t got = 0;
  while (text.size() < bytes_max && (got = ::read(fd, chunk, sizeof chunk)) > 0)
    text.append(chunk, static_cast<std::size_t>(got));
  return text;
}

ContextFile read_context_file(const std::string& folder, const std::string& path, Links links,
                              std::size_t bytes_max, const Owners& owners) {
  ContextFile out;
  out.ref.ref = fmt::format("file:{}/{}", folder, path);
  const Descriptor file{open_in(folder, path, links)};
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return out;
  out.what = ContextFile::What::unusable;
  struct stat info{};
  if (file.get() < 0 && (errno == EXDEV || errno == ELOOP)) {
    out.ref.reason = "it is a symbolic link that leads out of the workspace";
  } else if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    out.ref.reason = "it cannot be read";
  } else if (!S_ISREG(info.st_mode)) {
    out.ref.reason = "it is not a regular file";
  } else if (!owners.empty() && std::ranges::find(owners, info.st_uid) == owners.end()) {
    out.ref.reason = "it belongs to another user";
  }
  if (out.ref.reason) return out;
  out.text = read_at_most(file.get(), bytes_max + 1);
  out.ref.size =
      out.text.size() > bytes_max ? static_cast<std::uint64_t>(info.st_size) : out.text.size();
  if (out.text.size() > bytes_max) {
    out.text.clear();
    out.ref.reason = fmt::format("it is larger than {} bytes", bytes_max);
    return out;
  }
  out.what = ContextFile::What::read;
  out.ref.digest = "sha256:" + hex(bytes_of(sha256(out.text)));
  return out;
}

}  // namespace agentrt::adapters
