// cli/views/status_line.h: the status line at the bottom, which shows what the turn is doing.
//
// It is redrawn in place, and erased before any other output. Use only on a terminal that supports
// this, and only if no line of text is open. Pure: write the returned text to the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/views/terminal.h"

namespace agentrt::cli {

class StatusLine {
 public:
  // Draws the next animation frame.
  std::string draw(std::string_view what, std::int64_t elapsed_ms, std::size_t width,
                   Colour colour);
  // Empty if the line is not drawn.
  std::string erase();

 private:
  bool drawn_ = false;
  std::size_t picture_ = 0;
};

}  // namespace agentrt::cli
