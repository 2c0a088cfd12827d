// cli/chat/frame.h: the part of the screen below the conversation that is redrawn in place.
//
// Top to bottom: the unfinished line of the answer, what is running, the queue, the input, choices,
// and the status line. No row is wider than the terminal less one column, and there are never more
// rows than the terminal has, so that a frame can be replaced by moving up. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/terminal.h"

namespace agentrt::cli {

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;

  bool operator==(const Size&) const = default;
};

// Styled lines; the layout cuts those that are too wide.
struct FrameParts {
  std::string open;                  // the line that is being written; folded, its end is shown
  std::vector<std::string> running;  // output, plan and activity
  std::vector<std::string> queue;
  std::string mark;                // before the input, styled
  std::size_t mark_cells = 0;      // its width; later lines of the input are indented by it
  std::string input;               // escaped; may contain line breaks
  std::size_t cursor = 0;          // in bytes of `input`
  std::vector<std::string> below;  // choices and hints
  std::string status;
};

struct Frame {
  std::vector<std::string> rows;
  std::size_t cursor_row = 0;
  std::size_t cursor_column = 0;

  bool operator==(const Frame&) const = default;
};

Frame lay_out(const FrameParts& parts, Size size);

// Breaks a styled text without line breaks into rows of at most `width` columns. Each row begins
// and ends with default colours.
std::vector<std::string> fold(std::string_view styled, std::size_t width);
// The first `width` columns of a styled text, with … if it was cut.
std::string fit_styled(std::string_view styled, std::size_t width);

// How much of the input is shown at most, in rows.
inline constexpr std::size_t kInputRowsMax = 10;
inline constexpr std::size_t kOpenRowsMax = 6;

// What is on the screen, and the bytes that change it. One write per call: write the returned text
// at once. Cursor movements are relative, so the frame may be anywhere on the screen.
class Canvas {
 public:
  // Puts `above` (complete lines) above the frame, which is then redrawn.
  std::string draw(std::string_view above, const Frame& frame);
  // After the terminal was resized, its rows are where only the terminal knows: clears the screen
  // and draws `above`, the newest lines of the conversation, and the frame again.
  std::string redraw(std::string_view above, const Frame& frame);
  // Removes the frame; the cursor is where it began.
  std::string erase();

 private:
  std::string to_top() const;
  std::string paint_frame(const Frame& frame);

  Frame drawn_;
  bool visible_ = false;
};

}  // namespace agentrt::cli
