#include "cli/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace agentrt::cli {

Signals::Signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  if (fd_ >= 0) ::close(fd_);
}

int Signals::count() {
  signalfd_siginfo info{};
  while (fd_ >= 0 && ::read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    ++count_;
    leave_ = leave_ || info.ssi_signo != SIGINT;
    hangups_ += info.ssi_signo == SIGHUP;
  }
  return count_;
}

bool Signals::asked_to_leave() {
  (void)count();
  return leave_;
}

bool Signals::only_hangups() { return hangups_ == count(); }

void Signals::forget() {
  (void)count();
  count_ = hangups_ = 0;
  leave_ = false;
}

void Signals::wait(int timeout_ms) {
  pollfd waiting{fd_, POLLIN, 0};
  ::poll(&waiting, 1, timeout_ms);
}

}  // namespace agentrt::cli
