#include "cli/chat/raw_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <string_view>

namespace agentrt::cli {
namespace {

// Bracketed paste, and reports of the focus.
constexpr std::string_view kBegin = "\x1b[?2004h\x1b[?1004h";
constexpr std::string_view kEnd = "\x1b[?1004l\x1b[?2004l";

void write_text(std::string_view text) { (void)!::write(STDOUT_FILENO, text.data(), text.size()); }

}  // namespace

void RawTerminal::enter() {
  termios settings{};
  if (found_ || ::tcgetattr(STDIN_FILENO, &settings) != 0) return;
  found_ = settings;
  settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL | ISIG | IEXTEN);
  settings.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | IXON | ISTRIP | BRKINT);
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
  write_text(kBegin);
}

void RawTerminal::leave() {
  if (!found_) return;
  write_text(kEnd);
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &*found_);
  found_.reset();
}

void RawTerminal::discard_typed() { (void)::tcflush(STDIN_FILENO, TCIFLUSH); }

Size RawTerminal::size(Size otherwise) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return otherwise;
  return {size.ws_col, size.ws_row};
}

}  // namespace agentrt::cli
