#include "launcher/id_maps.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "launcher/records.h"

namespace agentrt::launcher {
namespace {

constexpr std::size_t kHolderStackBytes = 4'096;

// Shares its parent's memory, so it makes only raw syscalls. Closes the inherited descriptors,
// because other processes wait for their end of file.
int wait_to_be_killed(void* parent) {
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::syscall(SYS_close_range, 0, ~0u, 0);
  if (::syscall(SYS_getppid) != *static_cast<const pid_t*>(parent)) return 0;
  for (;;) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

}  // namespace

pid_t hold_user_namespace() {
  alignas(16) static char stack[kHolderStackBytes];
  static pid_t parent;
  parent = ::getpid();
  return ::clone(wait_to_be_killed, stack + sizeof(stack), CLONE_NEWUSER | CLONE_VM | SIGCHLD,
                 &parent);
}

Fd user_namespace(const Owner& inner, pid_t* left) {
  const pid_t holder = hold_user_namespace();
  if (holder < 0) return Fd();
  const std::string place = "/proc/" + std::to_string(holder) + "/";
  const auto line = [](unsigned id) {
    return std::to_string(id) + " " + std::to_string(kOuterId) + " 1";
  };
  const bool mapped = write_into(place + "setgroups", "deny") &&
                      write_into(place + "uid_map", line(inner.first)) &&
                      write_into(place + "gid_map", line(inner.second));
  Fd space(mapped ? ::open((place + "ns/user").c_str(), O_RDONLY | O_CLOEXEC) : -1);
  const int error = errno;
  ::kill(holder, SIGKILL);
  if (left != nullptr)
    *left = holder;
  else
    ::waitpid(holder, nullptr, 0);
  errno = error;
  return space;
}

bool IdMaps::add(const Owner& owner) {
  if (spaces_.contains(owner)) return true;
  Fd space = user_namespace(owner);
  if (!space) return false;
  spaces_.emplace(owner, std::move(space));
  return true;
}

int IdMaps::of(const Owner& owner) const {
  const auto found = spaces_.find(owner);
  return found == spaces_.end() ? -1 : found->second.get();
}

}  // namespace agentrt::launcher
