#include "cli/decisions/keyboard.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <mutex>

#include "cli/output.h"
#include "cli/signals.h"

namespace agentrt::cli {
namespace {

std::mutex mutex;              // guards `found`
std::optional<termios> found;  // the settings before the first Keyboard

// Changing the terminal from the background would stop the process. A terminal that is not the
// controlling one has no foreground.
bool in_foreground() {
  const pid_t group = ::tcgetpgrp(STDIN_FILENO);
  return group < 0 || group == ::getpgrp();
}

void set_echo(bool on) {
  const std::lock_guard lock(mutex);
  if (!found || !in_foreground()) return;
  termios settings = *found;
  if (!on) settings.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

void discard_typed() {
  if (in_foreground()) (void)::tcflush(STDIN_FILENO, TCIFLUSH);
}

}  // namespace

Keyboard::Keyboard(bool at_terminal) : at_terminal_(at_terminal) {
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (!at_terminal_) return;
  {
    const std::lock_guard lock(mutex);
    termios settings{};
    if (!found && ::tcgetattr(STDIN_FILENO, &settings) == 0) found = settings;
  }
  set_echo(false);
}

Keyboard::~Keyboard() {
  if (timer_ >= 0) ::close(timer_);
  if (at_terminal_) restore_terminal();
}

void Keyboard::open() {
  if (at_terminal_) {
    set_echo(false);
    discard_typed();
  }
  itimerspec due{};
  due.it_value.tv_nsec = at_terminal_ ? kQuietMs * 1'000'000L : 1;
  (void)::timerfd_settime(timer_, 0, &due, nullptr);
}

void Keyboard::accept() {
  std::uint64_t times = 0;
  (void)!::read(timer_, &times, sizeof(times));
  if (!at_terminal_) return;
  discard_typed();
  set_echo(true);
}

void Keyboard::close() {
  const itimerspec never{};
  (void)::timerfd_settime(timer_, 0, &never, nullptr);
  if (!at_terminal_) return;
  set_echo(false);
  discard_typed();
}

void restore_terminal() {
  const std::lock_guard lock(mutex);
  if (found && in_foreground()) (void)::tcsetattr(STDIN_FILENO, TCSANOW, &*found);
  found.reset();
}

std::optional<std::string> ask_line(Output& output, Signals& signals, std::string_view prompt) {
  Keyboard keyboard(output.screen().in_terminal);
  output.err(prompt);
  keyboard.open();
  std::string typed;
  std::array<pollfd, 2> waiting{{{keyboard.timer(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (signals.count() > 0) return std::nullopt;
    if (waiting[0].revents == 0) continue;
    if (waiting[0].fd == keyboard.timer()) {
      keyboard.accept();
      waiting[0].fd = STDIN_FILENO;
      continue;
    }
    std::array<char, 4'096> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) return std::nullopt;
    typed.append(bytes.data(), static_cast<std::size_t>(count));
    if (typed.size() > kTypedLineBytesMax) typed.resize(kTypedLineBytesMax);
    const std::size_t end = typed.find('\n');
    if (end == std::string::npos) continue;
    typed.resize(end);
    if (typed.ends_with('\r')) typed.pop_back();
    return typed;
  }
}

}  // namespace agentrt::cli
