#include "launcher/network.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace agentrt::launcher {
namespace {

constexpr std::size_t kMakerStackBytes = 16 * 1024;

bool loopback_up() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

}  // namespace

// In the memory of its parent, which runs on: nothing but system calls and its own members.
int OwnNetwork::make(void* network) {
  auto& self = *static_cast<OwnNetwork*>(network);
  if (::unshare(CLONE_NEWNET) == 0 && loopback_up())
    self.made_ = ::openat(self.processes_.get(), "thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (self.made_ < 0) self.error_ = errno;
  return 0;
}

void OwnNetwork::begin() {
  alignas(16) static char stack[kMakerStackBytes];
  processes_ = Fd(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  maker_ = ::clone(make, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, this);
  if (maker_ < 0) error_ = errno;
}

int OwnNetwork::enter() {
  while (maker_ > 0 && ::waitpid(maker_, nullptr, 0) < 0 && errno == EINTR) {
  }
  const Fd made(made_);
  if (made && ::setns(made.get(), CLONE_NEWNET) != 0) error_ = errno;
  processes_.reset();
  return error_;
}

}  // namespace agentrt::launcher
