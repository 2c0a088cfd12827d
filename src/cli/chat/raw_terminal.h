// cli/chat/raw_terminal.h: the terminal while a conversation draws on it.
//
// Keys arrive one by one and are not echoed; no key is a signal. Pastes are marked, and the
// terminal reports when it gains or loses the focus. The destructor restores the settings, and so
// does leave(), for a program that gets the terminal meanwhile. One at a time.
#pragma once

#include <termios.h>

#include <optional>

#include "cli/chat/frame.h"

namespace agentrt::cli {

class RawTerminal {
 public:
  RawTerminal() { enter(); }
  ~RawTerminal() { leave(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  void enter();
  void leave();
  // Discards keys that were typed and not read.
  static void discard_typed();
  // `otherwise`: if the terminal does not tell.
  static Size size(Size otherwise);

 private:
  std::optional<termios> found_;  // the settings to restore; empty: left
};

}  // namespace agentrt::cli
