#include "cli/chat/own_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/descriptor.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

constexpr int kNotStarted = 127;
constexpr int kPollMs = 100;
// Output of a background child may keep the pipe open after the command has ended.
constexpr int kLingerMs = 200;

// Gives the terminal to a process group. The caller may be in the background meanwhile.
void give_terminal(pid_t group) {
  sigset_t block, before;
  ::sigemptyset(&block);
  ::sigaddset(&block, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &block, &before);
  (void)::tcsetpgrp(STDIN_FILENO, group);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[noreturn]] void become(const std::string& shell, const std::string& command,
                         const std::string& folder, int output) {
  ::setpgid(0, 0);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (::chdir(folder.c_str()) != 0) ::_exit(kNotStarted);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execl(shell.c_str(), shell.c_str(), "-c", command.c_str(), static_cast<char*>(nullptr));
  ::_exit(kNotStarted);
}

// Reads what is there and prints it. False: the pipe is closed.
bool pass_on(int fd, OwnOutput& out) {
  std::array<char, 16'384> bytes{};
  const ssize_t size = ::read(fd, bytes.data(), bytes.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  if (size == 0) return false;
  const std::string_view piece(bytes.data(), static_cast<std::size_t>(size));
  out.bytes += piece.size();
  out.text += piece;
  if (out.text.size() > kOwnOutputBytesMax) out.text.erase(0, out.text.size() - kOwnOutputBytesMax);
  const std::string shown = safe_text(piece);
  (void)!::write(STDOUT_FILENO, shown.data(), shown.size());
  return true;
}

}  // namespace

OwnOutput run_own_command(const std::string& shell, const std::string& command,
                          const std::string& folder) {
  OwnOutput out;
  out.exit_code = kNotStarted;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return out;
  Descriptor reading(ends[0]), writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return out;
  if (child == 0) become(shell, command, folder, writing.get());
  writing = Descriptor();
  ::setpgid(child, child);
  give_terminal(child);
  int status = 0;
  bool ended = false;
  int lingered = 0;
  while (lingered < kLingerMs) {
    pollfd waiting{reading.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kPollMs);
    if (ready > 0 && !pass_on(reading.get(), out)) break;
    if (!ended) ended = ::waitpid(child, &status, WNOHANG | WUNTRACED) == child;
    if (ended && WIFSTOPPED(status)) {  // there is no shell here to continue it
      ::kill(-child, SIGCONT);
      ended = false;
    }
    if (ended && ready <= 0) lingered += kPollMs;
  }
  if (!ended)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  give_terminal(::getpgrp());
  out.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return out;
}

}  // namespace agentrt::cli
