#include "launcher/id_maps.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace agentrt::launcher {
namespace {

constexpr std::size_t kHolderStackBytes = 4'096;

// Shares our memory, so it does nothing but wait.
int wait_to_be_killed(void*) {
  for (;;) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

Fd space_of(const Owner& owner) {
  alignas(16) static char stack[kHolderStackBytes];
  const pid_t holder = ::clone(wait_to_be_killed, stack + sizeof(stack),
                               CLONE_NEWUSER | CLONE_VM | SIGCHLD, nullptr);
  if (holder < 0) return Fd();
  const std::string place = "/proc/" + std::to_string(holder) + "/";
  const auto put = [&](const char* name, unsigned id) {
    const Fd file(::open((place + name).c_str(), O_WRONLY | O_CLOEXEC));
    const std::string line = std::to_string(id) + " " + std::to_string(kOuterId) + " 1";
    return file && ::write(file.get(), line.data(), line.size()) > 0;
  };
  const bool mapped = put("uid_map", owner.first) && put("gid_map", owner.second);
  Fd space(mapped ? ::open((place + "ns/user").c_str(), O_RDONLY | O_CLOEXEC) : -1);
  const int error = errno;
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  errno = error;
  return space;
}

}  // namespace

bool IdMaps::add(const Owner& owner) {
  if (spaces_.contains(owner)) return true;
  Fd space = space_of(owner);
  if (!space) return false;
  spaces_.emplace(owner, std::move(space));
  return true;
}

int IdMaps::of(const Owner& owner) const {
  const auto found = spaces_.find(owner);
  return found == spaces_.end() ? -1 : found->second.get();
}

}  // namespace agentrt::launcher
