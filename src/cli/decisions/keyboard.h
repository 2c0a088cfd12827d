// cli/decisions/keyboard.h: the terminal's keyboard while something else is printed.
//
// While a Keyboard exists, keys are not echoed, so they do not appear in the answer that is being
// printed. After open(), one line is read; base/typed_line.h decides which keys count.
//
// If standard input is not a terminal, or if this process is in the background, keys are only
// read. The terminal is restored by the destructor, and by restore_terminal() for a process that
// exits without one. Use from one thread; one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/typed_line.h"

namespace agentrt::cli {

class Output;
class Signals;

class Keyboard final : private Keys {
 public:
  explicit Keyboard(bool at_terminal);
  ~Keyboard() override;
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  // A question was drawn: reads a line for it.
  void open();
  // Readable when read() is due: a timer until keys count, then standard input.
  int descriptor() const;
  // Never blocks. Anything but `nothing` closes the question.
  TypedLine::Typed read();
  // The question is closed: keys are not echoed any more, and what was typed is discarded.
  void close();

 private:
  void discard() override;
  void echo(bool on) override;
  std::optional<std::string> pressed() override;

  bool at_terminal_;
  int timer_ = -1;
  TypedLine line_;
};

// Puts back the settings that the first Keyboard found. Callable at any time, from any thread.
void restore_terminal();

// Prints `prompt` on standard error and reads one line, without the line break. nullopt: the input
// ended, or a signal arrived.
std::optional<std::string> ask_line(Output& output, Signals& signals, std::string_view prompt);

}  // namespace agentrt::cli
