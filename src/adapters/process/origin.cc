#include "adapters/process/origin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "adapters/process/memory_file.h"
#include "launcher/link.h"

namespace agentrt::adapters {
namespace {

std::unexpected<Error> failed(int error) {
  return fail(Code::unavailable, fmt::format("The launcher cannot be started: {}.",
                                             std::generic_category().message(error)));
}

bool send_order(int link, const launcher::CopyOrder& order, std::span<const int> given) {
  const iovec from{const_cast<launcher::CopyOrder*>(&order), sizeof(order)};
  return launcher::send_beside(link, from, given, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(order);
}

// False: the origin died or did not reply in time.
bool hear_reply(int link, launcher::CopyReply& reply) {
  pollfd wait{link, POLLIN, 0};
  int ready = 0;
  while ((ready = ::poll(&wait, 1, kOriginAnswerMs)) < 0 && errno == EINTR) {
  }
  errno = ready == 0 ? ETIMEDOUT : EPIPE;
  return ready > 0 && ::recv(link, &reply, sizeof(reply), MSG_DONTWAIT) == sizeof(reply);
}

}  // namespace

Result<pid_t> Origin::copy(const launcher::CopyOrder& order, std::span<const int> given) {
  const std::lock_guard lock(mutex_);
  if (pid_ < 0) TRY(start());
  return ask(order, given);
}

void Origin::get_ready() {
  const std::lock_guard lock(mutex_);
  if (pid_ >= 0) (void)send_order(link_.get(), {}, {});  // copy() detects a dead origin
}

// If the reply is lost, a copy may exist that we do not know. It sees that its link has no peer and
// exits.
Result<pid_t> Origin::ask(const launcher::CopyOrder& order, std::span<const int> given) {
  launcher::CopyReply reply;
  if (!send_order(link_.get(), order, given) || !hear_reply(link_.get(), reply)) {
    const int error = errno;
    end();
    return failed(error);
  }
  if (reply.pid <= 0) return failed(reply.error);
  return reply.pid;
}

Result<void> Origin::start() {
  TRY_ASSIGN(const Descriptor file,
             file_in_memory("agentrt-launcher", program_, MemoryFile::executable));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed(errno);
  Descriptor ours(ends[0]);
  const Descriptor made(ends[1]);
  const Descriptor theirs(::fcntl(made.get(), F_DUPFD_CLOEXEC, kAboveFixed));
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), launcher::kControlFd);
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  std::string name = "agentrt-launcher", stay = launcher::kStay;
  char* argv[] = {name.data(), stay.data(), nullptr};
  char* environment[] = {nullptr};
  const int error = ::posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    return failed(error);
  }
  link_ = std::move(ours);
  return {};
}

void Origin::end() {
  if (pid_ < 0) return;
  link_ = Descriptor();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace agentrt::adapters
