#include "launcher/questions/folder_modes.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "launcher/guarded/as_command.h"

namespace agentrt::launcher {
namespace {

constexpr long kFchmodat2 = 452;

// A call that changes the mode of an existing entry. Numbers of arguments; -1: it has none.
struct ModeChange {
  int folder_at = -1;  // the descriptor that a relative path starts from; -1: the working folder
  int path_at = -1;    // -1: `folder_at` itself is changed
  int mode_at = 0;
  int flags_at = -1;
};

std::optional<ModeChange> mode_change(int call) {
  switch (call) {
#ifdef __x86_64__
    case SYS_chmod:
      return ModeChange{.path_at = 0, .mode_at = 1};
#endif
    case SYS_fchmod:
      return ModeChange{.folder_at = 0, .mode_at = 1};
    case SYS_fchmodat:
      return ModeChange{.folder_at = 0, .path_at = 1, .mode_at = 2};
    case kFchmodat2:
      return ModeChange{.folder_at = 0, .path_at = 1, .mode_at = 2, .flags_at = 3};
    default:
      return std::nullopt;
  }
}

// The folder that the call names, through the mounts that the command sees. Empty, with errno:
// there is none.
Fd open_folder(const Asker& asker, const ModeChange& change) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const int from =
      change.folder_at < 0 ? AT_FDCWD : static_cast<int>(asker.argument(change.folder_at));
  if (change.path_at < 0)
    return Fd(::open(asker.place("fd/" + std::to_string(from)).c_str(), kFlags));
  std::string path = asker.path(change.path_at);
  if (path.empty()) {
    errno = ENOENT;
    return {};
  }
  if (path[0] != '/') path = asker.folder_of(from) + path;
  const std::uint64_t flags = change.flags_at < 0 ? 0 : asker.argument(change.flags_at);
  const Fd root(::open(asker.place("root").c_str(), kFlags));
  open_how how{};
  how.flags = kFlags | ((flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0);
  how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT;
  return Fd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

}  // namespace

std::optional<int> set_folder_mode(const Asker& asker, bool as_command) {
  const auto change = mode_change(asker.call());
  if (!change) return std::nullopt;
  const auto mode = static_cast<mode_t>(asker.argument(change->mode_at)) & 07777;
  if ((mode & S_ISUID) != 0) return std::nullopt;
  const Fd folder = open_folder(asker, *change);
  if (!folder || !asker.still_asks()) return std::nullopt;
  // An O_PATH descriptor has no mode to set, but its link in /proc leads to exactly what it holds.
  const AsCommand user(as_command, 0);
  const std::string held = "/proc/self/fd/" + std::to_string(folder.get());
  return ::chmod(held.c_str(), mode) == 0 ? 0 : errno;
}

}  // namespace agentrt::launcher
