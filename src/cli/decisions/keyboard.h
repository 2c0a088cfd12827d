// cli/decisions/keyboard.h: the terminal's keyboard while something else is printed.
//
// A key that was pressed before a question was on the screen, or just as it appeared, is not an
// answer to it. While a Keyboard exists, keys are not echoed, so they do not appear in the answer
// that is being printed. open() discards what was typed so far; keys count from kQuietMs later,
// when accept() discards once more and turns the echo on. Whole lines are read: no key answers
// without Enter.
//
// Does nothing if standard input is not a terminal, or if this process is in the background. The
// terminal is restored by the destructor, and by restore_terminal() for a process that exits
// without one. Use from one thread; one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agentrt::cli {

class Output;
class Signals;

// How long keys are ignored after a question was drawn.
inline constexpr int kQuietMs = 500;

class Keyboard {
 public:
  explicit Keyboard(bool at_terminal);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  // A question was drawn. timer() becomes readable when accept() is due.
  void open();
  int timer() const { return timer_; }
  // Keys count from now on.
  void accept();
  // The question is closed: keys are not echoed any more, and what was typed is discarded.
  void close();

 private:
  bool at_terminal_;
  int timer_ = -1;
};

// Puts back the settings that the first Keyboard found. Callable at any time, from any thread.
void restore_terminal();

// Prints `prompt` on standard error and reads one line, without the line break. nullopt: the input
// ended, or a signal arrived.
std::optional<std::string> ask_line(Output& output, Signals& signals, std::string_view prompt);

inline constexpr std::size_t kTypedLineBytesMax = 64 * 1024;

}  // namespace agentrt::cli
