#include "launcher/next_network.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

namespace agentrt::launcher {
namespace {

Fd present_network() { return Fd(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)); }

}  // namespace

bool loopback_up() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

bool NextNetwork::make() {
  if (space_) return true;
  const Fd own = present_network();
  if (!own || ::unshare(CLONE_NEWNET) != 0) return true;
  if (loopback_up()) space_ = present_network();
  return ::setns(own.get(), CLONE_NEWNET) == 0;
}

bool NextNetwork::enter() const { return space_ && ::setns(space_.get(), CLONE_NEWNET) == 0; }

}  // namespace agentrt::launcher
