// cli/views/terminal.h: text for people: colour where there is a terminal, safe text, tables.
//
// Text that comes from a model or a file is never printed to a terminal as it is: an escape
// sequence in it could rewrite the screen, the title or the clipboard. printable() takes out what
// is not text. Pure, but for standard_screen() and terminal_width(), which look at the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace agentrt::cli {

enum class Paint { plain, dim, bold, red, green, yellow, cyan };
enum class Colour { off, on };

// Where the process writes.
struct Screen {
  bool out_terminal = false;
  bool err_terminal = false;
  bool in_terminal = false;
  Colour out_colour = Colour::off;  // a terminal, and NO_COLOR is unset
  Colour err_colour = Colour::off;
  bool live = false;  // out and err are one terminal on which a line can be drawn anew
  std::size_t width = 80;
};
Screen standard_screen();
// How wide the terminal is now; `otherwise` where there is none.
std::size_t terminal_width(std::size_t otherwise);

std::string paint(std::string_view text, Paint how, Colour colour);

// The text without control characters, other than newline and tab, and without the characters that
// reverse the direction of writing.
std::string printable(std::string_view text);
// The text with what printable() takes out spelled \xNN instead, so that it is seen.
std::string visible(std::string_view text);
// The character that starts at `text[at]`, whole.
std::string_view utf8_character(std::string_view text, std::size_t at);
// printable() in one line: newlines and tabs become spaces, runs of spaces one.
std::string one_line(std::string_view text);

// Columns of the terminal, not bytes.
std::size_t width_of(std::string_view text);
// At most `width` columns, ending in … when something was cut.
std::string fit(std::string_view text, std::size_t width);

// Columns as wide as their widest cell; the last one is cut to what is left of `width`. Cells are
// printed as they are given, so pass them through one_line() first.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};
std::string render(const Table& table, std::size_t width, Colour colour);

// "850 ms", "3.2 s", "4 min 10 s"
std::string spoken_duration(std::int64_t ms);
// "just now", "5 min ago", "3 h ago", "2 days ago", else the date
std::string spoken_age(Timestamp at, Timestamp now);

}  // namespace agentrt::cli
