#include "base/real_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>

#include <fmt/format.h>

namespace agentrt {

std::string real_path(const std::string& path) {
  return real_path(path, Descriptor{::open(path.c_str(), O_PATH | O_CLOEXEC)});
}

// Resolved by one readlink of the open descriptor. Resolving each path component here would cost
// one syscall per folder, for dozens of paths per command.
std::string real_path(const std::string& path, const Descriptor& found) {
  if (!found) return path;
  std::array<char, PATH_MAX> target{};
  const std::string link = fmt::format("/proc/self/fd/{}", found.get());
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  if (size <= 0 || static_cast<std::size_t>(size) == target.size()) return path;
  return {target.data(), static_cast<std::size_t>(size)};
}

}  // namespace agentrt
