#include "launcher/placeholders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "launcher/mounts.h"

namespace agentrt::launcher {
namespace {

constexpr const char* kMark = "user.agentrt.placeholder";
constexpr int kLockPauseMs = 5;

bool is_empty(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return false;
  if (S_ISREG(found.st_mode)) return found.st_size == 0;
  if (!S_ISDIR(found.st_mode)) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return false;
  while (const dirent* entry = ::readdir(folder.get()))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) return false;
  return true;
}

void remove_if_empty(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return;
  if (S_ISDIR(found.st_mode))
    ::rmdir(path.c_str());  // fails if it is not empty
  else if (S_ISREG(found.st_mode) && found.st_size == 0)
    ::unlink(path.c_str());
}

// The use that a locked byte of a root stands for. On a folder the kernel grants only shared locks,
// so each side locks its own byte first and then checks the other's; both can never find it free.
enum class Use : off_t { working, cleaning };

struct flock byte_of(Use use, short type) {
  struct flock byte{};
  byte.l_type = type;
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(use);
  byte.l_len = 1;
  return byte;
}

bool set_lock(int folder, Use use, short type) {
  const struct flock byte = byte_of(use, type);
  return ::fcntl(folder, F_OFD_SETLK, &byte) == 0;
}

// True also on error.
bool is_used_by_others(int folder, Use use) {
  struct flock byte = byte_of(use, F_WRLCK);
  return ::fcntl(folder, F_OFD_GETLK, &byte) != 0 || byte.l_type != F_UNLCK;
}

bool begin_work(int folder, int wait_ms) {
  if (!set_lock(folder, Use::working, F_RDLCK)) return false;
  for (int waited = 0; is_used_by_others(folder, Use::cleaning); waited += kLockPauseMs) {
    if (waited >= wait_ms) return false;
    ::usleep(kLockPauseMs * 1'000);
  }
  return true;
}

// False: another sandbox is working there.
bool begin_cleaning(int folder) {
  return set_lock(folder, Use::cleaning, F_RDLCK) && set_lock(folder, Use::working, F_UNLCK) &&
         !is_used_by_others(folder, Use::working);
}

}  // namespace

bool is_placeholder(const std::string& path) {
  char mark = 0;
  return ::lgetxattr(path.c_str(), kMark, &mark, sizeof(mark)) >= 0 && is_empty(path);
}

void mark_placeholder(const std::string& path) { ::lsetxattr(path.c_str(), kMark, "", 0, 0); }

std::string RootLocks::hold(const Spec& spec) {
  if (spec.mode != Mode::workspace_write || spec.protect.empty()) return "";
  for (const std::string& root : spec.roots) {
    Fd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder || !begin_work(folder.get(), kLockWaitMs)) return root;
    roots_.emplace_back(root, std::move(folder));
  }
  return "";
}

void RootLocks::clean(const Spec& spec) {
  for (const auto& [root, folder] : roots_) {
    if (!begin_cleaning(folder.get())) {
      set_lock(folder.get(), Use::cleaning, F_UNLCK);  // do not block others any longer
      continue;
    }
    for (const std::string& path : spec.protect) {
      if (!is_under(path, root)) continue;
      for (std::size_t end = path.find('/', root.size() + 1);; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        if (is_placeholder(part) || std::ranges::find(made_, part) != made_.end()) {
          remove_if_empty(part);
          break;
        }
        if (end == std::string::npos) break;
      }
    }
  }
  roots_.clear();
}

}  // namespace agentrt::launcher
