#include "launcher/placeholders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
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
    ::rmdir(path.c_str());  // refused by itself when it is not empty
  else if (S_ISREG(found.st_mode) && found.st_size == 0)
    ::unlink(path.c_str());
}

bool lock_within(int folder, int wait_ms) {
  for (int waited = 0; ::flock(folder, LOCK_SH | LOCK_NB) != 0; waited += kLockPauseMs) {
    if (errno != EWOULDBLOCK || waited >= wait_ms) return false;
    ::usleep(kLockPauseMs * 1'000);
  }
  return true;
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
    if (!folder || !lock_within(folder.get(), kLockWaitMs)) return root;
    roots_.emplace_back(root, std::move(folder));
  }
  return "";
}

void RootLocks::clean(const Spec& spec) {
  for (const auto& [root, folder] : roots_) {
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
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
