#include "launcher/mounts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "launcher/frozen.h"
#include "launcher/guarded/names.h"
#include "launcher/placeholders.h"

namespace agentrt::launcher {
namespace {

constexpr std::uint64_t kSafe = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};

class Mounts {
 public:
  Mounts(const Spec& spec, const IdMaps& maps, int link)
      : spec_(spec), maps_(maps), link_(link), root_paths_(spec.roots) {
    // A root inside another must be mounted after it, or it would be covered.
    std::ranges::sort(root_paths_, {}, &std::string::size);
  }

  bool set_up() {
    // Stops mount propagation: a later mount of the host would appear inside, writable.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail("private", "/");
    if (spec_.mode == Mode::workspace_write)
      for (const std::string& path : spec_.protect) make_placeholder(path);
    hide_other_processes();
    // Clone these trees while the originals are still writable.
    if (spec_.mode != Mode::full_access)
      for (const std::string& root : root_paths_) roots_.push_back(root_tree(root));
    for (const char* device : kDevices) devices_.push_back(tree(std::string("/dev/") + device));
    set_attributes(AT_FDCWD, "/",
                   spec_.mode == Mode::full_access ? kSafe : kSafe | MOUNT_ATTR_RDONLY);
    own_dev();
    if (spec_.mode != Mode::full_access) own_tmp();
    const bool own_proc = own_processes();
    freeze_folders(spec_, link_);
    if (spec_.wanted & bit(Layer::identity)) open_the_way();
    for (std::size_t i = 0; i < roots_.size(); ++i) attach_root(root_paths_[i], roots_[i]);
    if (spec_.mode == Mode::workspace_write) {
      guard_folders();
      for (const std::string& path : spec_.protect) protect(path);
    }
    for (const std::string& path : spec_.hide) hide(path);
    return own_proc;
  }

 private:
  [[noreturn]] void fail(std::string_view stage, std::string_view what) {
    give_up(link_, stage, what);
  }

  Fd tree(const std::string& path) {
    Fd out(::open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
    if (!out) fail("open_tree", path);
    return out;
  }
  Fd tree_at(int at, const std::string& what) {
    Fd out(::open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH));
    if (!out) fail("open_tree", what);
    return out;
  }

  // The paths of roots were resolved; a symlink found now was added since.
  Fd open_root(const std::string& root) {
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    Fd found(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, root.c_str(), &how, sizeof(how))));
    if (!found) fail("root", root);
    return found;
  }

  void set_attributes(int at, const char* path, std::uint64_t set, int user_namespace = -1,
                      const std::string& what = "") {
    mount_attr attributes{};
    attributes.attr_set = set;
    if (user_namespace >= 0) {
      attributes.attr_set |= MOUNT_ATTR_IDMAP;
      attributes.userns_fd = static_cast<std::uint64_t>(user_namespace);
    }
    const unsigned flags = AT_RECURSIVE | (*path == '\0' ? AT_EMPTY_PATH : 0);
    if (::mount_setattr(at, path, flags, &attributes, sizeof(attributes)) != 0)
      user_namespace >= 0 ? fail_idmap(at, what)
                          : fail("mount_setattr", what.empty() ? path : what);
  }

  // Some file systems do not support idmapped mounts: overlayfs and most network file systems.
  [[noreturn]] void fail_idmap(int at, const std::string& root) {
    const int error = errno;
    struct statfs found{};
    const bool overlay = ::fstatfs(at, &found) == 0 && found.f_type == OVERLAYFS_SUPER_MAGIC;
    errno = error;
    fail("idmapped mount",
         root + (overlay ? " (overlayfs)" : "") +
             ": the file system does not support idmapped mounts, which agentrt needs when it runs "
             "as root; run agentrt as the user who owns the workspace, or keep the workspace on "
             "ext4, xfs, btrfs or tmpfs (in a container: on a volume)");
  }

  void attach(int tree, int at, const char* path, const std::string& what) {
    const unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path == '\0' ? MOVE_MOUNT_T_EMPTY_PATH : 0);
    if (::move_mount(tree, "", at, path, flags) != 0) fail("move_mount", what);
  }

  void mount(const char* type, const std::string& at, unsigned long flags,
             const std::string& options) {
    if (::mount(type, at.c_str(), type, flags, options.c_str()) != 0)
      fail("mount", std::string(type) + " " + at);
  }

  void make_folders(const std::string& path) {
    if (::access(path.c_str(), F_OK) == 0) return;
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
      ::mkdir(path.substr(0, at).c_str(), 0755);
    ::mkdir(path.c_str(), 0755);
  }

  Fd root_tree(const std::string& root) {
    Fd out = tree_at(open_root(root).get(), root);
    struct stat found{};
    if (::fstat(out.get(), &found) != 0) fail("stat", root);
    const std::uint64_t read_only = spec_.mode == Mode::read_only ? MOUNT_ATTR_RDONLY : 0;
    set_attributes(out.get(), "", kSafe | read_only, maps_.of({found.st_uid, found.st_gid}), root);
    return out;
  }

  void attach_root(const std::string& root, const Fd& tree) {
    if (is_under(root, "/tmp") || is_under(root, "/dev/shm")) make_folders(root);
    // A command that could rename a folder between two roots could choose what the next command
    // finds as the inner root.
    fix_the_way_to(root);
    attach(tree.get(), open_root(root).get(), "", root);
    fixed_.push_back(root);
  }

  // Every procfs except the command's own shows the host's processes.
  void hide_other_processes() {
    if (!(spec_.wanted & bit(Layer::pid_namespace))) return;
    const std::string all = mounts_now();
    std::vector<std::string> found;
    for (std::size_t at = all.find(" - proc "); at != all.npos; at = all.find(" - proc ", at + 1)) {
      const std::string_view line = std::string_view(all).substr(0, at);
      const std::string path = mount_point(line.substr(line.rfind('\n') + 1));
      if (path != "/proc") found.push_back(path);
    }
    // Paths that this process cannot reach are unreachable for the command too.
    for (const std::string& other : found)
      if (::mount("tmpfs", other.c_str(), "tmpfs", MS_RDONLY, "mode=0,size=4k") != 0 &&
          errno != EACCES && errno != ENOENT && errno != ENOTDIR)
        fail("mount over", other);
  }

  std::string mounts_now() {
    const Fd file(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
    std::string text;
    char part[16 * 1024];
    ssize_t size = -1;
    while (file && (size = ::read(file.get(), part, sizeof(part))) > 0)
      text.append(part, static_cast<std::size_t>(size));
    if (size != 0) fail("mounts", "/proc/self/mountinfo");  // an unread mount would not be hidden
    return text;
  }

  // The fifth field of a mountinfo line.
  static std::string mount_point(std::string_view line) {
    for (int word = 0; word < 4; ++word)
      line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    return unescaped(line.substr(0, line.find(' ')));
  }

  // Decodes a path of mountinfo: special characters are a backslash and three octal digits.
  static std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 3 >= text.size()) {
        out += text[i];
        continue;
      }
      out +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    }
    return out;
  }

  bool own_processes() {
    if (!(spec_.wanted & bit(Layer::pid_namespace))) return false;
    if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "") == 0)
      return true;
    if (errno != EPERM) fail("mount", "proc /proc");
    mount("tmpfs", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "mode=0555,size=4k");
    return false;
  }

  void own_dev() {
    mount("tmpfs", "/dev", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k,nr_inodes=64");
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const std::string path = std::string("/dev/") + kDevices[i];
      Fd(::open(path.c_str(), O_CREAT | O_CLOEXEC | O_WRONLY, 0666));
      attach(devices_[i].get(), AT_FDCWD, path.c_str(), path);
    }
    ::mkdir("/dev/pts", 0755);
    ::mkdir("/dev/shm", 01777);
    mount("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
    mount("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, tmp_options());
    constexpr std::pair<const char*, const char*> kLinks[] = {{"pts/ptmx", "/dev/ptmx"},
                                                              {"/proc/self/fd", "/dev/fd"},
                                                              {"/proc/self/fd/0", "/dev/stdin"},
                                                              {"/proc/self/fd/1", "/dev/stdout"},
                                                              {"/proc/self/fd/2", "/dev/stderr"}};
    for (const auto& [to, from] : kLinks)
      if (::symlink(to, from) != 0) fail("symlink", from);
    mount_attr read_only{};
    read_only.attr_set = MOUNT_ATTR_RDONLY;
    if (::mount_setattr(AT_FDCWD, "/dev", 0, &read_only, sizeof(read_only)) != 0)
      fail("mount_setattr", "/dev");
  }

  std::string tmp_options() const { return "mode=1777,size=" + std::to_string(spec_.tmp_bytes); }
  void own_tmp() { mount("tmpfs", "/tmp", MS_NOSUID | MS_NODEV, tmp_options()); }

  // The command's user may lack permission to traverse a folder above a root (such as /root).
  // Replace such a folder with an empty one that contains only the path to the root.
  void open_the_way() {
    for (const std::string& root : root_paths_) {
      for (std::size_t at = root.find('/', 1); at != std::string::npos;
           at = root.find('/', at + 1)) {
        const std::string above = root.substr(0, at);
        struct stat found{};
        if (::stat(above.c_str(), &found) != 0 || (found.st_mode & S_IXOTH) != 0) continue;
        mount("tmpfs", above, MS_NOSUID | MS_NODEV, "mode=0755,size=64k,nr_inodes=64");
        break;
      }
      make_folders(root);
    }
  }

  // The nearest root above; null: none. Folders between two roots are already fixed.
  const std::string* root_above(const std::string& path) const {
    for (auto root = root_paths_.rbegin(); root != root_paths_.rend(); ++root)
      if (is_under(path, *root) && path.size() > root->size() + 1) return &*root;
    return nullptr;
  }

  // One component of the path from a root to a file below it.
  struct Step {
    int at = -1;  // descriptor of its parent folder
    std::string name, path;
    bool last = false;
    Fd found;  // empty: see errno
  };

  // Visits the path component by component, without following symlinks. `visit` returns the folder
  // to continue in; empty: stop.
  template <class Visit>
  void walk(const std::string& root, std::string path, Visit visit) {
    while (path.back() == '/') path.pop_back();
    Fd at = open_root(root);
    for (std::size_t begin = root == "/" ? 1 : root.size() + 1; at && begin < path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      Step step{.at = at.get(),
                .name = path.substr(begin, end - begin),
                .path = path.substr(0, end),
                .last = end == path.size(),
                .found = Fd()};
      step.found = open_beneath(at.get(), step.name);
      at = visit(step);
      begin = end + 1;
    }
  }

  // Creates an empty file or folder for a protected path that does not exist, because a mount needs
  // a mount point. Creates only the first missing component.
  void make_placeholder(const std::string& path) {
    const std::string* root = root_above(path);
    if (root == nullptr) return;
    walk(*root, path, [&](Step& step) {
      const bool as_folder = path.back() == '/' || !step.last;
      bool stands = step.found && is_placeholder(step.path);
      while (!stands && !step.found && errno == ENOENT) {
        stands = put_placeholder(step, as_folder);
        if (stands) break;
        step.found = open_beneath(step.at, step.name);
        stands = step.found && is_placeholder(step.path);
      }
      if (stands) placeholders_.push_back(step.path);
      if (!stands && !step.found) fail("protect", step.path);
      return !stands && is_folder(step.found.get()) ? std::move(step.found) : Fd();
    });
  }

  // False: another sandbox created it first.
  bool put_placeholder(const Step& step, bool as_folder) {
    // Report it before creating it, so that it is cleaned up even if this process is killed.
    tell(link_, Say::placeholder, as_folder ? 1 : 0, 0, step.path);
    const int made = as_folder ? ::mkdirat(step.at, step.name.c_str(), 0755)
                               : ::mknodat(step.at, step.name.c_str(), S_IFREG | 0644, 0);
    if (made != 0 && errno == EEXIST) return false;
    if (made != 0) fail("placeholder", step.path);
    struct stat around{};
    if (::geteuid() == 0 && ::fstat(step.at, &around) == 0)
      (void)!::fchownat(step.at, step.name.c_str(), around.st_uid, around.st_gid,
                        AT_SYMLINK_NOFOLLOW);
    mark_placeholder(step.path);
    return true;
  }

  void protect(const std::string& path) {
    const std::string* root = root_above(path);
    if (root == nullptr) return;
    walk(*root, path, [&](Step& step) {
      if (!step.found) fail("protect", step.path);
      if (is_read_only(step.found.get())) return Fd();  // an earlier rule covers it
      // A file where a folder was expected (.git of a linked worktree) is itself protected.
      const bool last = step.last || !is_folder(step.found.get()) ||
                        std::ranges::find(placeholders_, step.path) != placeholders_.end();
      if (!last) return fixed(step);
      mount_on_itself(step, kSafe | MOUNT_ATTR_RDONLY);
      return Fd();
    });
  }

  // A guarded folder before it becomes read-only: the whole tree, which is sent to the supervisor,
  // and the folders in it that the command may write directly.
  struct Guard {
    std::size_t index = 0;
    Fd tree;
    std::vector<std::pair<std::string, Fd>> parts;
  };

  // Clones every tree while it is writable, including those of nested folders.
  void guard_folders() {
    std::vector<Guard> guards;
    for (std::size_t i = 0; i < spec_.guarded.size(); ++i) {
      if (std::ranges::find(placeholders_, spec_.guarded[i]) != placeholders_.end()) continue;
      const Fd folder =
          guarded_folder(spec_.guarded[i], [](Step& step) { return std::move(step.found); });
      if (!folder) continue;  // removed since it was looked up
      Guard guard{.index = i, .tree = tree_at(folder.get(), spec_.guarded[i]), .parts = {}};
      for (std::string& name : whole_folders(spec_.written))
        if (const Fd part = open_beneath(folder.get(), name); part && is_folder(part.get())) {
          Fd copy = tree_at(part.get(), name);
          guard.parts.emplace_back(std::move(name), std::move(copy));
        }
      guards.push_back(std::move(guard));
    }
    for (const Guard& each : guards) guard(each);
  }

  // `pass` opens each folder on the path.
  template <class Pass>
  Fd guarded_folder(const std::string& path, Pass pass) {
    if (std::ranges::find(root_paths_, path) != root_paths_.end()) return open_root(path);
    const std::string* root = root_above(path);
    if (root == nullptr) return Fd();
    Fd folder;
    walk(*root, path, [&](Step& step) {
      if (!step.found && errno != ENOENT && errno != ENOTDIR) fail("guard", step.path);
      if (!step.last && step.found) return pass(step);
      if (step.found && is_folder(step.found.get())) folder = std::move(step.found);
      return Fd();
    });
    return folder;
  }

  void guard(const Guard& each) {
    const std::string& path = spec_.guarded[each.index];
    Step step{.at = -1, .name = "", .path = path, .last = true, .found = Fd()};
    step.found = guarded_folder(path, [&](Step& on_way) {
      return is_read_only(on_way.found.get()) ? std::move(on_way.found) : fixed(on_way);
    });
    if (!step.found) fail("guard", path);
    const Fd folder = is_read_only(step.found.get())
                          ? std::move(step.found)
                          : mount_on_itself(step, kSafe | MOUNT_ATTR_RDONLY);
    std::string names;
    for (const auto& [name, part] : each.parts) {
      const Fd on = open_beneath(folder.get(), name);
      if (!on) fail("guard", path + "/" + name);
      attach(part.get(), on.get(), "", path + "/" + name);
      names += name + "\n";
    }
    const int tree = each.tree.get();
    tell(link_, Say::guarded, static_cast<std::int32_t>(each.index), 0, names, {&tree, 1});
  }

  // Makes the folder a mount point: it can then not be renamed, which would move its content too.
  Fd fixed(Step& step) {
    if (std::ranges::find(fixed_, step.path) != fixed_.end()) return std::move(step.found);
    fixed_.push_back(step.path);
    return mount_on_itself(step, kSafe);
  }

  Fd mount_on_itself(const Step& step, std::uint64_t attributes) {
    Fd mounted = tree_at(step.found.get(), step.path);
    set_attributes(mounted.get(), "", attributes);
    attach(mounted.get(), step.found.get(), "", step.path);
    return mounted;
  }

  // Fixes every folder above `path` that the command could rename.
  void fix_the_way_to(const std::string& path) {
    static const std::string kWhole = "/";
    const std::string* root = spec_.mode == Mode::full_access ? &kWhole : root_above(path);
    if (root == nullptr || spec_.mode == Mode::read_only) return;
    walk(*root, path, [&](Step& step) {
      if (step.last) return Fd();
      if (!step.found) fail("the way to", path);
      return is_read_only(step.found.get()) ? std::move(step.found) : fixed(step);
    });
  }

  static Fd open_beneath(int at, const std::string& name) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    Fd found(static_cast<int>(::syscall(SYS_openat2, at, name.c_str(), &how, sizeof(how))));
    struct stat is{};
    if (found && ::fstat(found.get(), &is) == 0 && S_ISLNK(is.st_mode)) {
      errno = ELOOP;
      return Fd();
    }
    return found;
  }

  static bool is_folder(int fd) {
    struct stat found{};
    return ::fstat(fd, &found) == 0 && S_ISDIR(found.st_mode);
  }
  static bool is_read_only(int fd) {
    struct statvfs flags{};
    return ::fstatvfs(fd, &flags) == 0 && (flags.f_flag & ST_RDONLY) != 0;
  }

  void hide(const std::string& path) {
    struct stat found{};
    // A missing path outside the roots cannot be created; a symlink is hidden through its target.
    if (::lstat(path.c_str(), &found) != 0 || S_ISLNK(found.st_mode)) return;
    fix_the_way_to(path);
    if (!S_ISDIR(found.st_mode))
      return attach(tree("/dev/null").get(), AT_FDCWD, path.c_str(), path);
    // One empty folder is cloned for all: a new file system costs more than a clone.
    if (nothing_) return attach(tree_at(nothing_.get(), path).get(), AT_FDCWD, path.c_str(), path);
    mount("tmpfs", path, MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
          "mode=0555,size=4k,nr_inodes=2");
    nothing_ = Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  const Spec& spec_;
  const IdMaps& maps_;
  int link_;
  std::vector<std::string> root_paths_;
  std::vector<Fd> roots_;
  std::vector<Fd> devices_;
  std::vector<std::string> placeholders_;
  std::vector<std::string> fixed_;  // folders that are already mount points
  Fd nothing_;                      // an empty hidden folder; the others are clones of it
};

}  // namespace

bool is_under(std::string_view path, std::string_view root) {
  return root == "/" ||
         (path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/'));
}

bool set_up_mounts(const Spec& spec, const IdMaps& maps, int link) {
  return Mounts(spec, maps, link).set_up();
}

}  // namespace agentrt::launcher
