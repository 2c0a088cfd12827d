#include "launcher/guarded/writes.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "launcher/guarded/as_command.h"
#include "launcher/guarded/names.h"

namespace agentrt::launcher {
namespace {

using What = WriteAsked::What;
using How = WriteDone::How;

// The flags of open() that are performed here; an open with any other flag is left to the kernel.
constexpr int kLargeFile = 0100000;  // the kernel's value; O_LARGEFILE is 0 here
constexpr int kOpenFlags = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_CLOEXEC |
                           O_NOFOLLOW | O_NONBLOCK | O_SYNC | O_NOCTTY | O_NOATIME | kLargeFile;

// An entry below a guarded folder.
struct Entry {
  const Guarded* folder = nullptr;
  std::string path;  // relative to `folder`
  Writable writable;

  // Opens the parent folder. Empty, with errno: a component is missing or a symlink.
  Fd parent() const {
    const std::size_t slash = path.rfind('/');
    if (slash == path.npos) return Fd(::fcntl(folder->tree.get(), F_DUPFD_CLOEXEC, 0));
    return open_below(path.substr(0, slash), O_PATH | O_DIRECTORY, 0);
  }
  std::string name() const { return path.substr(path.rfind('/') + 1); }
  bool exists() const {
    const Fd at = parent();
    struct stat found{};
    return at && ::fstatat(at.get(), name().c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  }
  Fd open_below(const std::string& which, int flags, unsigned mode) const {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC | O_NOFOLLOW);
    how.mode = (flags & O_CREAT) != 0 ? mode & 0777 : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return Fd(static_cast<int>(
        ::syscall(SYS_openat2, folder->tree.get(), which.c_str(), &how, sizeof(how))));
  }
};

// Finds the innermost guarded folder that contains the path. If there is none, or the path is in a
// part that is mounted writable, the entry has no folder.
Entry entry_of(const std::vector<Guarded>& folders, const std::vector<std::string>& patterns,
               const std::string& path) {
  Entry entry;
  for (const Guarded& folder : folders)
    if (folder.tree && is_under(path, folder.path) && path.size() > folder.path.size() &&
        (entry.folder == nullptr || folder.path.size() > entry.folder->path.size()))
      entry.folder = &folder;
  if (entry.folder == nullptr) return entry;
  entry.path = path.substr(entry.folder->path.size() + 1);
  const std::string first = entry.path.substr(0, entry.path.find('/'));
  if (std::ranges::find(entry.folder->mounted, first) != entry.folder->mounted.end()) return {};
  entry.writable = writable(patterns, entry.path);
  return entry;
}

WriteDone with(int result) {
  return {.how = How::done, .error = result == 0 ? 0 : errno, .opened = Fd()};
}

WriteDone refused(const Entry& entry, bool creates) {
  // A syscall that needs an existing entry fails for any user if it is missing.
  if (!creates && !entry.exists()) return {.how = How::done, .error = ENOENT, .opened = Fd()};
  return {.how = How::refused, .error = EROFS, .opened = Fd()};
}

// The content is fixed, so the command gets a separate file for its writes, which is discarded.
WriteDone create_fixed(const Entry& entry, const WriteAsked& asked) {
  const Fd file = entry.open_below(entry.path, O_WRONLY | O_CREAT | O_EXCL, asked.mode);
  if (!file) return with(-1);
  const std::string& content = *entry.writable.content;
  if (::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    return with(-1);
  Fd sink(::memfd_create("agentrt-sink", MFD_CLOEXEC));
  if (!sink) return with(-1);
  return {.how = How::done, .error = 0, .opened = std::move(sink)};
}

WriteDone open(const Entry& entry, const WriteAsked& asked) {
  int flags = asked.flags & kOpenFlags;
  if (flags != asked.flags) return {};  // O_TMPFILE, O_PATH: left to the kernel
  const bool creates = (flags & O_CREAT) != 0;
  if (entry.writable.access < Access::new_file) return refused(entry, creates);
  if (entry.writable.access == Access::new_file) {
    if (!creates || entry.exists()) return refused(entry, creates);
    if (entry.writable.content) return create_fixed(entry, asked);
    flags |= O_EXCL;
  }
  // O_NONBLOCK: neither a pipe nor a device may block the supervisor.
  Fd file = entry.open_below(entry.path, flags | O_NONBLOCK, asked.mode);
  if (!file) return with(-1);
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return with(-1);
  if (!S_ISREG(found.st_mode)) return {.how = How::refused, .error = EROFS, .opened = Fd()};
  if ((flags & O_NONBLOCK) == 0)
    ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  return {.how = How::done, .error = 0, .opened = std::move(file)};
}

WriteDone remove(const Entry& entry, int flags) {
  const Access least = flags == AT_REMOVEDIR ? Access::way : Access::new_file;
  if (entry.writable.access < least) return refused(entry, false);
  const Fd at = entry.parent();
  return with(at ? ::unlinkat(at.get(), entry.name().c_str(), flags) : -1);
}

WriteDone make_folder(const Entry& entry, unsigned mode) {
  if (entry.writable.access != Access::way && entry.writable.access != Access::everything) {
    if (!entry.exists()) return refused(entry, true);
    return {.how = How::done, .error = EEXIST, .opened = Fd()};
  }
  const Fd at = entry.parent();
  return with(at ? ::mkdirat(at.get(), entry.name().c_str(), mode & 0777) : -1);
}

WriteDone rename(const Entry& from, const Entry& to, int flags) {
  // Between guarded folders, or out of one, rename fails as between two file systems.
  if (from.folder != to.folder) return {.how = How::done, .error = EXDEV, .opened = Fd()};
  if (from.writable.access != Access::everything || to.writable.access != Access::everything)
    return refused(from, false);
  const Fd old_at = from.parent(), new_at = to.parent();
  if (!old_at || !new_at) return with(-1);
  return with(::renameat2(old_at.get(), from.name().c_str(), new_at.get(), to.name().c_str(),
                          static_cast<unsigned>(flags)));
}

WriteDone perform(const Entry& entry, const Entry& to, const WriteAsked& asked) {
  const AsCommand user(asked.as_command, asked.mask);
  switch (asked.what) {
    case What::open:
      return open(entry, asked);
    case What::unlink:
      return remove(entry, 0);
    case What::rmdir:
      return remove(entry, AT_REMOVEDIR);
    case What::mkdir:
      return make_folder(entry, asked.mode);
    case What::rename:
      return rename(entry, to, asked.flags);
  }
  return {};
}

}  // namespace

WriteDone write_guarded(const std::vector<Guarded>& folders,
                        const std::vector<std::string>& patterns, const WriteAsked& asked) {
  const Entry entry = entry_of(folders, patterns, asked.path);
  Entry to;
  if (asked.what == What::rename) to = entry_of(folders, patterns, asked.to);
  if (entry.folder == nullptr && to.folder == nullptr) return {};
  if (asked.what == What::rename && (entry.folder == nullptr || to.folder == nullptr)) return {};
  return perform(entry, to, asked);
}

}  // namespace agentrt::launcher
