#include "launcher/questions/asker.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace agentrt::launcher {
namespace {

constexpr std::size_t kPage = 4'096;
constexpr std::size_t kPathMax = 4'096;

// Removes `.` and `..` lexically; symlinks are not followed.
std::string plain_path(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..")
      out.resize(out.empty() ? 0 : out.rfind('/'));
    else
      out.append("/").append(name);
  }
  return out.empty() ? "/" : out;
}

}  // namespace

bool Asker::hear(int listener) {
  listener_ = listener;
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &asked_) == 0;
}

bool Asker::still_asks() const {
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked_.id) == 0;
}

// The range may cross into an unmapped page. Then the readable part is returned.
ssize_t Asker::read_memory(std::uint64_t from, void* into, std::size_t size) const {
  const std::size_t first = std::min(size, kPage - (from & (kPage - 1)));
  iovec local{into, size};
  iovec remote[2] = {{reinterpret_cast<void*>(from), first},
                     {reinterpret_cast<void*>(from + first), size - first}};
  return ::process_vm_readv(pid(), &local, 1, remote, size > first ? 2 : 1, 0);
}

std::string Asker::path(int argument_at) const {
  char bytes[kPathMax];
  const ssize_t size = read_memory(argument(argument_at), bytes, sizeof(bytes));
  if (size <= 0) return {};
  return {bytes, ::strnlen(bytes, static_cast<std::size_t>(size))};
}

std::string Asker::place(const std::string& name) const {
  return "/proc/" + std::to_string(pid()) + "/" + name;
}

std::string Asker::folder_of(int at) const {
  const std::string link = place(at == AT_FDCWD ? "cwd" : "fd/" + std::to_string(at));
  char target[kPathMax];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof(target));
  return std::string(target, size > 0 ? static_cast<std::size_t>(size) : 0) + "/";
}

std::string Asker::whole_path(const std::string& path, int folder_at) const {
  if (path.starts_with('/')) return plain_path(path);
  return plain_path(folder_of(folder_at < 0 ? AT_FDCWD : static_cast<int>(argument(folder_at))) +
                    path);
}

}  // namespace agentrt::launcher
