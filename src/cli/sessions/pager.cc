#include "cli/sessions/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "cli/programs.h"

namespace agentrt::cli {
namespace {

[[noreturn]] void become(const char* command, int input) {
  // The command line blocks signals to wait for them; the pager handles its own.
  sigset_t none;
  ::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)::signal(SIGPIPE, SIG_DFL);
  (void)::dup2(input, STDIN_FILENO);
  // Unless the user says otherwise: show colours, and do not wait if everything fits.
  (void)::setenv("LESS", "FRX", 0);
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

std::string pager_command(const config::Environment& environment) {
  const std::string own = environment("PAGER").value_or("");
  if (!own.empty()) return own;
  return is_installed("less", environment("PATH").value_or("")) ? "less" : "";
}

Pager::Pager(const std::string& command) {
  if (command.empty()) return;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  own_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  pid_ = own_ < 0 ? -1 : ::fork();
  if (pid_ == 0) become(command.c_str(), ends[0]);
  if (pid_ > 0) (void)::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
}

Pager::~Pager() {
  if (own_ >= 0) {
    (void)::dup2(own_, STDOUT_FILENO);
    ::close(own_);
  }
  while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace agentrt::cli
