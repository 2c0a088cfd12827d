#include "launcher/questions/held.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

#include "launcher/filter.h"
#include "launcher/mounts.h"
#include "launcher/questions/execution.h"

namespace agentrt::launcher {
namespace {

// Per message; below PIPE_BUF, so that a write is atomic.
constexpr std::size_t kRefusalBytes = 1'024;

std::string_view name_in(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

// Syscalls that change a path but not the content of a file.
bool keeps_contents(int call) {
  switch (call) {
#ifdef __x86_64__
    case SYS_chmod:
    case SYS_chown:
    case SYS_lchown:
    case SYS_mkdir:
#endif
    case SYS_fchmodat:
    case SYS_fchownat:
    case SYS_utimensat:
    case SYS_mkdirat:
      return true;
    default:
      return false;
  }
}

// Syscalls after which another folder may be at the path.
bool moves(int call) {
  switch (call) {
#ifdef __x86_64__
    case SYS_rename:
    case SYS_renameat:
    case SYS_rmdir:
#endif
    case SYS_renameat2:
    case SYS_unlinkat:
      return true;
    default:
      return false;
  }
}

std::string identity_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

// The folder of `path`, through /proc, as the process sees it.
std::string folder_of(const Asker& asker, const std::string& path, int folder_at) {
  const std::string folder = path.substr(0, path.size() - name_in(path).size());
  if (path.starts_with('/')) return asker.place("root") + folder;
  const int at = folder_at < 0 ? AT_FDCWD : static_cast<int>(asker.argument(folder_at));
  return asker.place(at == AT_FDCWD ? "cwd" : "fd/" + std::to_string(at)) + "/" + folder;
}

}  // namespace

bool HeldFiles::take(const Spec& spec, const Fd& copies) {
  if (spec.held_sizes.empty()) return true;
  const std::size_t count = spec.held_paths.size();
  if (!copies || spec.held_files.size() != count || spec.held_folders.size() != count ||
      spec.held_links.size() != spec.held_targets.size())
    return false;
  std::uint64_t offset = 0;
  for (const std::string& text : spec.held_sizes) {
    const std::uint64_t size = std::strtoull(text.c_str(), nullptr, 10);
    if (!add_copy(copies, offset, size)) return false;
    offset += size;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Path path;
    path.file = std::strtoull(spec.held_files[i].c_str(), nullptr, 10);
    path.path = spec.held_paths[i];
    path.name = name_in(path.path);
    path.folder = spec.held_folders[i];
    if (path.file >= files_.size()) return false;
    guard_the_way(spec, path);
    paths_.push_back(std::move(path));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  told_ = Fd(ends[0]);
  tell_ = Fd(ends[1]);
  return true;
}

bool HeldFiles::add_copy(const Fd& copies, std::uint64_t offset, std::uint64_t size) {
  File file;
  file.copy = Fd(::memfd_create("agentrt-held", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  auto from = static_cast<off_t>(offset);
  for (std::uint64_t left = size; left > 0;) {
    const ssize_t sent = ::sendfile(file.copy.get(), copies.get(), &from, left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    left -= static_cast<std::uint64_t>(sent);
  }
  const bool sealed = ::fcntl(file.copy.get(), F_ADD_SEALS,
                              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
  files_.push_back(std::move(file));
  return sealed;
}

// Records each component of the path below its root: a symlink and its target, or not a symlink.
// readlink answers from these records.
void HeldFiles::guard_the_way(const Spec& spec, const Path& path) {
  std::size_t root = 0;
  for (const std::string& each : spec.roots)
    if (is_under(path.path, each)) root = std::max(root, each.size());
  for (std::size_t at = root; at < path.path.size();) {
    at = std::min(path.path.find('/', at + 1), path.path.size());
    const std::string step = path.path.substr(0, at);
    names_.emplace_back(name_in(step));
    const auto known = std::ranges::find(spec.held_links, step);
    const bool is_link = known != spec.held_links.end();
    links_.push_back(
        {step,
         is_link ? spec.held_targets[static_cast<std::size_t>(known - spec.held_links.begin())]
                 : std::string(),
         path.file});
  }
}

// A cheap test by name only, because nearly all syscalls are about other files.
bool HeldFiles::may_mean(const std::string& path) const {
  const std::string_view name = name_in(path);
  return name == ".." || name == "." || std::ranges::find(names_, name) != names_.end();
}

const HeldFiles::Path* HeldFiles::find(const Asker& asker, const std::string& path,
                                       int folder_at) const {
  if (path.empty() || !may_mean(path)) return nullptr;
  const std::string whole = asker.whole_path(path, folder_at);
  std::string folder;
  for (const Path& each : paths_) {
    if (files_[each.file].released) continue;
    if (each.path == whole) return &each;
    if (each.name != name_in(path)) continue;
    if (folder.empty()) folder = identity_of(folder_of(asker, path, folder_at));
    if (!folder.empty() && each.folder == folder) return &each;
  }
  return nullptr;
}

HeldFiles::Answered HeldFiles::answer(const Asker& asker, seccomp_notif_resp& reply) {
  const int call = asker.call();
  switch (call) {
#ifdef __x86_64__
    case SYS_open:
      if (!opens_to_write(asker.argument(1))) return open(asker, reply, 0, -1, asker.argument(1));
      break;
    case SYS_readlink:
      return read_link(asker, reply, 0, -1);
#endif
    case SYS_openat:
      if (!opens_to_write(asker.argument(2))) return open(asker, reply, 1, 0, asker.argument(2));
      break;
    case SYS_readlinkat:
      return read_link(asker, reply, 1, 0);
    case SYS_execve:
      return execute(asker, reply, 0, -1);
    case SYS_execveat:
      return execute(asker, reply, 1, 0);
    default:
      break;
  }
  if (const WriteCall* write = write_call(call)) release(asker, *write);
  return Answered::not_ours;
}

// Releases a file when the command itself changes it or moves a folder above it.
void HeldFiles::release(const Asker& asker, const WriteCall& call) {
  if (keeps_contents(call.number)) return;
  for (const WriteCall::Path& at : call.paths) {
    if (at.path_at < 0) continue;
    const std::string path = asker.path(at.path_at);
    if (path.empty() || !may_mean(path)) continue;
    const std::string whole = asker.whole_path(path, at.folder_at);
    const Path* same = find(asker, path, at.folder_at);
    if (!asker.still_asks()) return;
    for (const Path& each : paths_)
      if (&each == same || (moves(call.number) && is_under(each.path, whole)))
        files_[each.file].released = true;
  }
}

HeldFiles::Answered HeldFiles::open(const Asker& asker, seccomp_notif_resp& reply, int path_at,
                                    int folder_at, std::uint64_t flags) {
  const Path* path = (flags & O_DIRECTORY) ? nullptr : find(asker, asker.path(path_at), folder_at);
  if (!path || !asker.still_asks()) return Answered::not_ours;
  // Reopen the copy: each open file has its own offset.
  const std::string copy = "/proc/self/fd/" + std::to_string(files_[path->file].copy.get());
  const Fd fresh(::open(copy.c_str(), O_RDONLY | O_CLOEXEC));
  seccomp_notif_addfd give{};
  give.id = asker.id();
  give.flags = SECCOMP_ADDFD_FLAG_SEND;
  give.srcfd = static_cast<std::uint32_t>(fresh.get());
  give.newfd_flags = (flags & O_CLOEXEC) ? O_CLOEXEC : 0;
  if (fresh && ::ioctl(asker.listener(), SECCOMP_IOCTL_NOTIF_ADDFD, &give) >= 0)
    return Answered::sent;
  reply.flags = 0;
  reply.error = errno == EMFILE ? -EMFILE : -EACCES;
  return Answered::reply;
}

HeldFiles::Answered HeldFiles::read_link(const Asker& asker, seccomp_notif_resp& reply, int path_at,
                                         int folder_at) {
  const std::string path = asker.path(path_at);
  if (path.empty() || !may_mean(path)) return Answered::not_ours;
  const std::string whole = asker.whole_path(path, folder_at);
  const auto link = std::ranges::find_if(
      links_, [&](const Link& each) { return each.path == whole && !files_[each.file].released; });
  if (link == links_.end() || !asker.still_asks()) return Answered::not_ours;
  reply.flags = 0;
  reply.error = -EINVAL;
  if (link->target.empty()) return Answered::reply;
  const std::size_t size = std::min(link->target.size(), asker.argument(path_at + 2));
  iovec from{link->target.data(), size};
  iovec to{reinterpret_cast<void*>(asker.argument(path_at + 1)), size};
  const bool written =
      ::process_vm_writev(asker.pid(), &from, 1, &to, 1, 0) == static_cast<ssize_t>(size);
  reply.error = written ? 0 : -EFAULT;
  reply.val = written ? static_cast<std::int64_t>(size) : 0;
  return Answered::reply;
}

HeldFiles::Answered HeldFiles::execute(const Asker& asker, seccomp_notif_resp& reply, int path_at,
                                       int folder_at) {
  const std::string text = asker.path(path_at);
  const Path* path = find(asker, text, folder_at);
  if (!path || !asker.still_asks()) return Answered::not_ours;
  std::unique_ptr<Execution> errand(new (std::nothrow) Execution);
  reply.flags = 0;
  reply.error = -EAGAIN;
  if (!errand) return Answered::reply;
  errand->process = asker.pid();
  errand->question = asker.id();
  errand->listener = Fd(::fcntl(asker.listener(), F_DUPFD_CLOEXEC, 0));
  errand->copy = Fd(::fcntl(files_[path->file].copy.get(), F_DUPFD_CLOEXEC, 0));
  errand->tell = Fd(::fcntl(tell_.get(), F_DUPFD_CLOEXEC, 0));
  errand->text = text;
  errand->refusal =
      ("execute " + path->path).substr(0, kRefusalBytes) + ": it differs from the approved file";
  if (!send_off(std::move(errand))) return Answered::reply;
  return Answered::sent;
}

std::vector<std::string> HeldFiles::take_refusals() {
  std::string bytes;
  char part[4'096];
  ssize_t size = 0;
  while ((size = ::read(told_.get(), part, sizeof(part))) > 0)
    bytes.append(part, static_cast<std::size_t>(size));
  std::vector<std::string> out;
  for (std::size_t at = 0, end = 0; (end = bytes.find('\0', at)) != bytes.npos; at = end + 1)
    out.push_back(bytes.substr(at, end - at));
  return out;
}

}  // namespace agentrt::launcher
