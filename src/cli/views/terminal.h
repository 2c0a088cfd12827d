// cli/views/terminal.h: terminal output: colour, escaping, tables.
//
// Text from a model, a file or the network is never printed raw to a terminal: an escape sequence
// could rewrite the screen, the title or the clipboard, and an invisible character could disguise a
// question. Every view passes its text through visible(), or through safe_text() for the model's
// prose. Pure, except standard_screen() and terminal_width(), which inspect the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace agentrt::cli {

enum class Paint { plain, dim, bold, red, green, yellow, cyan, alarm };
enum class Colour { off, on };

// The terminal properties of the process's standard streams.
struct Screen {
  bool out_terminal = false;
  bool err_terminal = false;
  bool in_terminal = false;
  Colour out_colour = Colour::off;  // on if it is a terminal and NO_COLOR is unset
  Colour err_colour = Colour::off;
  bool live = false;  // out and err are the same terminal, and it supports redrawing a line
  std::size_t width = 80;
};
Screen standard_screen();
// The current width of the terminal; `otherwise` if there is none.
std::size_t terminal_width(std::size_t otherwise);

std::string paint(std::string_view text, Paint how, Colour colour);

// Escapes control characters other than newline and tab, invalid bytes, and characters that reverse
// the writing direction, each byte as \xNN. Keeps joiners between letters, which prose needs.
std::string safe_text(std::string_view text);
// Like safe_text(), and also escapes invisible characters: zero-width ones, soft hyphens, tags.
std::string visible(std::string_view text);
// visible() with newlines and tabs as \n and \t, for text that must stay on one line.
std::string visible_line(std::string_view text);
// Escapes the characters that visible() would change, as JSON escapes.
std::string visible_json(std::string_view json);
// The complete character that starts at `text[at]`.
std::string_view utf8_character(std::string_view text, std::size_t at);
// visible() on one line: newlines and tabs become spaces, and runs of spaces are collapsed.
std::string one_line(std::string_view text);

// The name of a status as words: "waiting permission" for waiting_permission.
std::string spoken_status(std::string_view name);

// Formats 3410 as 3,410.
std::string grouped(std::uint64_t number);

// In terminal columns, not bytes.
std::size_t width_of(std::string_view text);
// Truncates to at most `width` columns, ending in … if text was cut.
std::string fit(std::string_view text, std::size_t width);

// Breaks the text, which has no line breaks, into lines of at most `width` columns, at spaces.
// Nothing is dropped: the lines joined are the text. A word that is wider than a line is cut. Width
// 0: one line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// Each column is as wide as its widest cell, and each cell passes one_line(). The last column is
// truncated to the remaining `width`.
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
