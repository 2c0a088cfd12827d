// cli/views/terminal.h: text for people: colour where there is a terminal, safe text, tables.
//
// Text that comes from a model, a file or the network is never printed to a terminal as it is: an
// escape sequence in it could rewrite the screen, the title or the clipboard, and a character that
// is not seen could make a question look like another one. Whatever a view prints has passed
// visible(), or safe_text() where it is the model's prose. Pure, but for standard_screen() and
// terminal_width(), which look at the process.
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

// The text with control characters other than newline and tab, broken bytes and the characters that
// reverse the direction of writing written out, each byte as \xNN. Joiners between letters stay,
// since prose needs them.
std::string safe_text(std::string_view text);
// The same, with every character written out that is not seen: zero-width ones, soft hyphens, tags.
std::string visible(std::string_view text);
// visible() with newlines and tabs as \n and \t: for a text that must not look like two lines.
std::string visible_line(std::string_view text);
// JSON in which visible() would change nothing: those characters are escaped as JSON does it.
std::string visible_json(std::string_view json);
// The character that starts at `text[at]`, whole.
std::string_view utf8_character(std::string_view text, std::size_t at);
// visible() in one line: newlines and tabs become spaces, runs of spaces one.
std::string one_line(std::string_view text);

// Columns of the terminal, not bytes.
std::size_t width_of(std::string_view text);
// At most `width` columns, ending in … when something was cut.
std::string fit(std::string_view text, std::size_t width);

// Columns as wide as their widest cell, each cell one_line(); the last column is cut to what is
// left of `width`.
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
