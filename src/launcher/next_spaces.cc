#include "launcher/next_spaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

namespace agentrt::launcher {
namespace {

Fd present(const char* place) { return Fd(::open(place, O_RDONLY | O_CLOEXEC)); }
Fd present_network() { return present("/proc/self/ns/net"); }
Fd present_ipc() { return present("/proc/self/ns/ipc"); }

bool enter(const Fd& space, int kind) { return space && ::setns(space.get(), kind) == 0; }

}  // namespace

bool loopback_up() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

bool NextSpaces::make() {
  if (ready()) return true;
  const Fd network = present_network(), ipc = present_ipc();
  if (!network || !ipc || ::unshare(CLONE_NEWNET | CLONE_NEWIPC) != 0) return true;
  if (loopback_up()) {
    network_ = present_network();
    ipc_ = present_ipc();
  }
  if (!ready()) close();
  return enter(network, CLONE_NEWNET) && enter(ipc, CLONE_NEWIPC);
}

bool NextSpaces::enter_network() const { return enter(network_, CLONE_NEWNET); }
bool NextSpaces::enter_ipc() const { return enter(ipc_, CLONE_NEWIPC); }

void NextSpaces::close() {
  network_.reset();
  ipc_.reset();
}

}  // namespace agentrt::launcher
