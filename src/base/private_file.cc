#include "base/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/descriptor.h"

namespace agentrt {
namespace {

std::unexpected<Error> failed(std::string_view what, const std::string& path) {
  return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(descriptor) != 0) return failed("sync", path);
  return {};
}

// Writes and syncs a file next to `path`, to be moved into place.
Result<std::string> write_temporary(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".new";
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) return failed("remove", temporary);
  const Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed("make", temporary);
  TRY(write_all(file.get(), bytes, temporary));
  return temporary;
}

Result<void> sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file) return failed("open", folder);
  if (::fsync(file.get()) != 0) return failed("sync", folder);
  return {};
}

Result<void> check_mode(int descriptor, const std::string& path, WiderMode wider) {
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) return failed("read", path);
  if ((info.st_mode & 077) == 0) return {};
  if (wider == WiderMode::refuse)
    return fail(Code::unavailable,
                fmt::format("{} may be read by other users, so it is not used; run: chmod 600 {}",
                            path, path));
  if (::fchmod(descriptor, 0600) != 0) return failed("set the mode of", path);
  return {};
}

}  // namespace

Result<std::optional<std::string>> read_private_file(const std::string& path, std::size_t bytes_max,
                                                     WiderMode wider) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno == ENOENT) return std::nullopt;
    return failed("open", path);
  }
  TRY(check_mode(file.get(), path, wider));
  std::string out;
  std::array<char, 4'096> piece;
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path);
    if (got == 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(got));
    if (out.size() > bytes_max)
      return fail(Code::unavailable,
                  fmt::format("{} is larger than {} bytes; restore or remove it", path, bytes_max));
  }
}

Result<void> write_private_file(const std::string& path, std::string_view bytes) {
  TRY_ASSIGN(const std::string temporary, write_temporary(path, bytes));
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("replace", path);
  return sync_folder_of(path);
}

Result<void> make_private_file(const std::string& path, std::string_view bytes) {
  TRY_ASSIGN(const std::string temporary, write_temporary(path, bytes));
  // link() never replaces an existing file.
  if (::link(temporary.c_str(), path.c_str()) != 0) return failed("make", path);
  ::unlink(temporary.c_str());
  return sync_folder_of(path);
}

Result<void> remove_private_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("remove", path);
  return sync_folder_of(path);
}

Result<void> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed("make", path);
  return {};
}

}  // namespace agentrt
