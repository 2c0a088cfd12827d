#include "cli/decisions/keyboard.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
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

std::int64_t now_ms() {
  using std::chrono::steady_clock;
  return std::chrono::floor<std::chrono::milliseconds>(steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Keyboard::Keyboard(bool at_terminal)
    : at_terminal_(at_terminal), line_(*this, at_terminal ? TypedLine::kQuietMs : 0) {
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
  line_.ask(now_ms());
  itimerspec due{};
  due.it_value.tv_nsec = at_terminal_ ? TypedLine::kQuietMs * 1'000'000L : 1;
  (void)::timerfd_settime(timer_, 0, &due, nullptr);
}

int Keyboard::descriptor() const { return line_.quiet() ? timer_ : STDIN_FILENO; }

TypedLine::Typed Keyboard::read() { return line_.read(now_ms()); }

void Keyboard::close() { line_.stop(); }

void Keyboard::discard() {
  if (at_terminal_ && in_foreground()) (void)::tcflush(STDIN_FILENO, TCIFLUSH);
}

void Keyboard::echo(bool on) {
  if (at_terminal_) set_echo(on);
}

std::optional<std::string> Keyboard::pressed() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, 0) != 1) return "";
  std::array<char, 4'096> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count <= 0) return std::nullopt;
  return std::string(bytes.data(), static_cast<std::size_t>(count));
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
  while (true) {
    std::array<pollfd, 2> waiting{
        {{keyboard.descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (signals.count() > 0) return std::nullopt;
    TypedLine::Typed typed = keyboard.read();
    if (typed.outcome == TypedLine::Outcome::ended) return std::nullopt;
    if (typed.outcome != TypedLine::Outcome::nothing) return std::move(typed.line);
  }
}

}  // namespace agentrt::cli
