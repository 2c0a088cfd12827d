#include "launcher/frozen.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "launcher/mounts.h"

namespace agentrt::launcher {
namespace {

bool lists(const std::vector<std::string>& paths, const std::string& path) {
  return std::ranges::find(paths, path) != paths.end();
}

class Frozen {
 public:
  Frozen(const Spec& spec, int link) : spec_(spec), link_(link) {}

  void freeze(const std::string& folder) {
    const Fd real(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!real && (errno == ENOENT || errno == EACCES)) return;  // invisible to the command anyway
    if (!real) fail(folder);
    if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                "mode=0755,size=4m,nr_inodes=8192") != 0)
      fail(folder);
    entries_ = 0;
    show_again(real.get(), folder);
    mount_attr read_only{};
    read_only.attr_set = MOUNT_ATTR_RDONLY;
    if (::mount_setattr(AT_FDCWD, folder.c_str(), 0, &read_only, sizeof(read_only)) != 0)
      fail(folder);
  }

 private:
  [[noreturn]] void fail(const std::string& path) { give_up(link_, "freeze", path); }

  void show_again(int from, const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(
        ::fdopendir(::fcntl(from, F_DUPFD_CLOEXEC, 0)), ::closedir);
    if (!entries) fail(folder);
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string name = entry->d_name, path = folder + "/" + name;
      if (name == "." || name == ".." || lists(spec_.hide, path)) continue;
      if (++entries_ > kFrozenEntriesMax) return;
      struct stat found{};
      if (::fstatat(from, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
      S_ISLNK(found.st_mode) ? link_again(from, name, path)
                             : mount_again(from, name, path, S_ISDIR(found.st_mode));
    }
  }

  void link_again(int from, const std::string& name, const std::string& path) {
    char target[4'096] = {};
    if (::readlinkat(from, name.c_str(), target, sizeof(target) - 1) > 0 &&
        ::symlink(target, path.c_str()) != 0)
      fail(path);
  }

  void mount_again(int from, const std::string& name, const std::string& path, bool folder) {
    if ((folder ? ::mkdir(path.c_str(), 0755) : ::mknod(path.c_str(), S_IFREG | 0444, 0)) != 0)
      fail(path);
    if (folder && lists(spec_.frozen, path)) {
      const Fd inner(::openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (inner) return show_again(inner.get(), path);
    }
    const Fd found(
        ::open_tree(from, name.c_str(),
                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW));
    if (!found && errno == ENOENT) return;  // removed since it was listed
    if (!found ||
        ::move_mount(found.get(), "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
      fail(path);
  }

  const Spec& spec_;
  int link_;
  std::size_t entries_ = 0;
};

}  // namespace

void freeze_folders(const Spec& spec, int link) {
  for (const std::string& folder : spec.frozen) {
    const auto holds = [&](const std::string& other) {
      return other != folder && is_under(folder, other);
    };
    // A folder inside another frozen folder is frozen with that one.
    if (std::ranges::none_of(spec.frozen, holds)) Frozen(spec, link).freeze(folder);
  }
}

}  // namespace agentrt::launcher
