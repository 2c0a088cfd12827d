// cli/views/markdown.h: renders Markdown for a terminal while it arrives.
//
// feed() takes the next chunk and returns the text to print now. Printed text is never changed.
// Held back are only an incomplete word (it may belong on the next line), a line whose kind is
// undecided, and unclosed emphasis, code or links, up to kHeldBytesMax. The output does not depend
// on how the text is split into chunks.
//
// Words wrap at the width, with wide characters counted as two columns, at the indentation of their
// list or quote. Code and tables (unless render_tables()) are not wrapped, so that code can be
// copied; the terminal folds long lines. Each chunk ends with default colours, so that other text
// may be printed between two chunks. Control characters are escaped.
//
// Pure. Use from one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/line_start.h"

namespace agentrt::cli {

// dim: everything dim, for reasoning. source: the Markdown source, for a terminal without colour;
// only escaped.
enum class Tone { plain, dim, source };

class Markdown {
 public:
  static constexpr std::size_t kHeldBytesMax = 512;
  static constexpr std::size_t kTableBytesMax = std::size_t{32} * 1024;

  explicit Markdown(std::size_t width, Tone tone = Tone::plain);

  std::string feed(std::string_view text);
  // Prints the held text and ends the current line, if one was started. Keeps a code block open.
  std::string end_line();
  // From now on, tables are printed with aligned columns, each when its last row is known. Their
  // rows are held back, up to kTableBytesMax. Has no effect with Tone::source.
  void render_tables() { tables_ = tone_ != Tone::source; }
  // Takes effect with the next line.
  void set_width(std::size_t width) { width_ = width; }

 private:
  struct Look {
    bool bold = false, italic = false, underlined = false, dim = false, struck = false,
         code = false;
    bool operator==(const Look&) const = default;
  };
  struct Run {
    std::string text;
    Look look;
  };

  void take(std::string_view character);
  void close_line();
  void begin(After after);
  void begin_fence(const LineStart& start);
  void begin_item(const LineStart& start);
  void take_code(std::string_view character);
  void flush_table();
  void resolve(After after);
  void put_mark(const MarkedText& mark, Look look);
  void put_marked(std::string_view text, Look look);
  void put_text(std::string_view text, Look look);
  void put_character(std::string_view character, Look look);
  void put_prefix(std::string_view text, std::size_t cells, Look look);
  void flush_word();
  void write(std::string_view text, Look look);
  static std::string styled(std::string_view text, Look look);

  std::size_t width_;
  Tone tone_;
  std::string out_;      // output of the current call
  std::string partial_;  // the bytes of an incomplete character
  // The current line.
  bool at_start_ = true;  // its kind is undecided
  std::string held_;      // not printed yet: the start of the line, or an open mark
  char before_ = '\0';    // the byte before held_
  Look look_;             // of its text
  bool wraps_ = true;     // false in code and tables
  std::string prefix_;    // printed at the start of continuation lines
  std::size_t prefix_cells_ = 0;
  bool in_quote_ = false;
  bool tables_ = false;
  bool in_table_ = false;           // the current line is a row
  std::vector<std::string> table_;  // its rows, not printed yet
  std::size_t table_bytes_ = 0;
  std::string fence_;  // the marker that opened the code block; empty: none is open
  // The printed part of the line.
  bool line_begun_ = false;
  std::size_t column_ = 0;
  std::string space_;  // before the current word
  Look space_look_;
  std::vector<Run> word_;
  std::size_t word_cells_ = 0;
};

}  // namespace agentrt::cli
