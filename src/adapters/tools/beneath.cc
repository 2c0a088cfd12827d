#include "adapters/tools/beneath.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include <fmt/format.h>

#include "policy/paths.h"

namespace agentrt::adapters::tools {
namespace {

std::expected<Descriptor, int> open_with(int folder, const std::string& path, int flags,
                                         std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  for (int i = 0; i < kWalkAgainMax; ++i) {
    const long fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return std::unexpected(errno);
}

std::string link_of(const Descriptor& handle) {
  return fmt::format("/proc/self/fd/{}", handle.get());
}

}  // namespace

std::expected<Descriptor, int> open_beneath(int folder, const std::string& path, Links links,
                                            int flags) {
  const std::uint64_t symlinks = links == Links::refuse ? RESOLVE_NO_SYMLINKS : 0;
  return open_with(folder, path, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | symlinks);
}

std::expected<Descriptor, int> open_back_in(int folder, const std::string& folder_path,
                                            const std::string& path) {
  const auto found = open_with(folder, path, O_PATH, RESOLVE_NO_MAGICLINKS);
  if (!found) return std::unexpected(EXDEV);
  const auto real = path_of(*found);
  if (!real || !policy::is_within(*real, folder_path)) return std::unexpected(EXDEV);
  const std::string rest = *real == folder_path ? "."
                           : folder_path == "/" ? real->substr(1)
                                                : real->substr(folder_path.size() + 1);
  return open_beneath(folder, rest, Links::refuse);
}

std::expected<Descriptor, int> reopen(const Descriptor& handle, int flags) {
  Descriptor out{::open(link_of(handle).c_str(), flags | O_CLOEXEC)};
  if (!out) return std::unexpected(errno);
  return out;
}

std::optional<std::string> path_of(const Descriptor& handle) {
  struct stat about{};
  if (::fstat(handle.get(), &about) != 0 || about.st_nlink == 0) return std::nullopt;
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(link_of(handle).c_str(), target.data(), target.size());
  if (size <= 0 || static_cast<std::size_t>(size) == target.size() || target[0] != '/')
    return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace agentrt::adapters::tools
