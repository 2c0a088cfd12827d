// cli/views/status_line.h: the line below everything else that says what is waited for.
//
// It is drawn over itself, and erased before anything else is printed, so that nothing of it stays.
// Only for a terminal that can draw a line anew, and only where no line of text is begun. Pure:
// what it returns is to be written to the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/views/terminal.h"

namespace agentrt::cli {

class StatusLine {
 public:
  // The next picture of it.
  std::string draw(std::string_view what, std::int64_t elapsed_ms, std::size_t width,
                   Colour colour);
  // Nothing where it does not stand.
  std::string erase();

 private:
  bool drawn_ = false;
  std::size_t picture_ = 0;
};

}  // namespace agentrt::cli
