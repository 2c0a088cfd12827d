#include "config/trust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/real_path.h"
#include "config/config_file.h"

namespace agentrt::config {
namespace {

bool is_link(int folder, const std::string& name) {
  struct stat found{};
  return ::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(found.st_mode);
}

// Opens the entry itself, of any type, without blocking on a named pipe. An empty descriptor: it
// does not exist.
Result<Descriptor> open_entry(int folder, const std::string& name, int flags,
                              const std::string& path) {
  Descriptor entry(::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (entry || errno == ENOENT) return entry;
  const int error = errno;
  if (is_link(folder, name))
    return wrong_at(path, 0, "is a symbolic link or is reached through one;",
                    "replace the link by the file itself, or remove it.");
  if (error == ENOTDIR) return Descriptor();
  return unreadable(path, error);
}

Result<std::string> read_text(int file, const std::string& path) {
  struct stat found{};
  if (::fstat(file, &found) != 0) return unreadable(path, errno);
  if (!S_ISREG(found.st_mode)) return wrong_at(path, 0, "is not", "a file.");
  std::string text;
  std::array<char, 16 * 1024> piece{};
  while (text.size() <= kConfigBytesMax) {
    const ssize_t size = ::read(file, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return unreadable(path, errno);
    if (size == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  return wrong_at(path, 0, "is too large:", fmt::format("the limit is {} bytes.", kConfigBytesMax));
}

void find_trust(WorkspaceFile& file, const std::vector<TrustRecord>& records) {
  for (const TrustRecord& record : records) {
    if (record.path != file.path) continue;
    if (record.digest == file.digest) {
      file.trust = Trust::given;
      file.trusted_effects.reset();
      return;
    }
    if (file.trust == Trust::none) file.trusted_effects = record.effects;
    file.trust = Trust::changed;
  }
}

}  // namespace

std::string real_workspace(const std::string& folder) { return real_path(folder); }

Result<std::optional<WorkspaceFile>> read_workspace_file(const std::string& workspace,
                                                         std::string_view name,
                                                         const std::vector<TrustRecord>& records) {
  const std::string root = real_workspace(workspace);
  WorkspaceFile file;
  file.path = root + (root.ends_with('/') ? "" : "/") + std::string(name);
  Descriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!folder) return unreadable(file.path, errno);
  if (const std::size_t slash = name.find('/'); slash != name.npos) {
    TRY_ASSIGN(folder, open_entry(folder.get(), std::string(name.substr(0, slash)),
                                  O_PATH | O_DIRECTORY, file.path));
    if (!folder) return std::nullopt;
    name.remove_prefix(slash + 1);
  }
  TRY_ASSIGN(const Descriptor entry, open_entry(folder.get(), std::string(name),
                                                O_RDONLY | O_NONBLOCK | O_NOCTTY, file.path));
  if (!entry) return std::nullopt;
  TRY_ASSIGN(file.text, read_text(entry.get(), file.path));
  file.digest = "sha256:" + hex(bytes_of(sha256(file.text)));
  find_trust(file, records);
  return file;
}

}  // namespace agentrt::config
