#include "launcher/origin.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace agentrt::launcher {
namespace {

constexpr std::size_t kGivenMax = 6;  // a spec, a connection, three streams, copies of files

enum class Received { order, get_ready, nothing, end };

Received hear_order(CopyOrder& order, std::vector<Fd>& given) {
  iovec into{&order, sizeof(order)};
  alignas(cmsghdr) char beside[CMSG_SPACE(kGivenMax * sizeof(int))];
  msghdr header{};
  header.msg_iov = &into;
  header.msg_iovlen = 1;
  header.msg_control = beside;
  header.msg_controllen = sizeof(beside);
  const ssize_t size = ::recvmsg(kControlFd, &header, MSG_CMSG_CLOEXEC);
  if (size < 0 && errno == EINTR) return Received::nothing;
  if (size <= 0) return Received::end;
  const cmsghdr* found = CMSG_FIRSTHDR(&header);
  if (found == nullptr) return size == sizeof(order) ? Received::get_ready : Received::nothing;
  if (found->cmsg_type != SCM_RIGHTS) return Received::nothing;
  take_given(*found, given);
  return size == sizeof(order) ? Received::order : Received::nothing;
}

// Moves the received descriptors to their numbers. False: they do not match the order.
bool put_in_place(const CopyOrder& order, std::vector<Fd>& given, Fd& copies) {
  std::vector<int> places = {kSpecFd, kControlFd};
  for (int stream = 0; stream < 3; ++stream)
    if (order.streams & (1u << stream)) places.push_back(stream);
  if (given.size() != places.size() + order.copies) return false;
  if (order.copies > 0) copies = std::move(given.back());
  for (std::size_t i = 0; i < places.size(); ++i)
    if (::dup2(given[i].get(), places[i]) < 0) return false;
  return true;
}

void set_signals(int how) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(how, &all, nullptr);
}

}  // namespace

bool become_copy(IdMaps& maps, NextSpaces& spaces, Fd& copies) {
  ::prctl(PR_SET_NAME, "agentrt-origin");
  ::fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  // Reserve descriptors 0 to 3, so that received descriptors get other numbers.
  for (int fd = 0; fd <= kSpecFd; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  set_signals(SIG_BLOCK);
  for (;;) {
    CopyOrder order;
    std::vector<Fd> given;
    const Received heard = hear_order(order, given);
    if (heard == Received::end) return false;
    // The runtime starts a new origin.
    if (heard == Received::get_ready && !spaces.make()) ::_exit(kFailedExit);
    if (heard != Received::order) continue;
    if (maps.size() + order.owners > kIdMapsMax) maps.close();
    // On failure the copy retries and reports the error.
    for (std::size_t i = 0; i < std::min<std::size_t>(order.owners, kOwnersMax); ++i)
      (void)maps.add({order.owner[i][0], order.owner[i][1]});
    CopyReply reply;
    reply.pid = static_cast<std::int32_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
    if (reply.pid == 0) {
      set_signals(SIG_UNBLOCK);
      if (!put_in_place(order, given, copies)) ::_exit(kFailedExit);
      return true;
    }
    if (reply.pid < 0) reply.error = errno;
    (void)!::send(kControlFd, &reply, sizeof(reply), MSG_NOSIGNAL);
    spaces.close();
  }
}

}  // namespace agentrt::launcher
