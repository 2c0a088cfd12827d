// cli/views/markdown.h: Markdown as a terminal shows it, while it arrives.
//
// feed() takes the next piece of a text and gives what to print now. Nothing that was printed is
// ever changed: held back are only a word that is not at its end (it may belong on the next line),
// a line whose beginning does not tell yet what it is, and emphasis, code or a link that is not
// closed yet, at most kHeldBytesMax of it. However the text is cut into pieces, what is printed is
// the same.
//
// Words are wrapped at the width, wide characters counted as two columns, under the indentation of
// their list or quote. Code and tables keep their lines: the terminal folds what is too long, so
// that code can be copied as it is. Each piece ends with plain colours, so that anything may be
// printed between two of them. Characters that could steer the terminal are written out.
//
// Pure. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/line_start.h"

namespace agentrt::cli {

// dim: all of it, for what is less than an answer. source: as it was written, for a terminal
// without colour; only made safe to print.
enum class Tone { plain, dim, source };

class Markdown {
 public:
  static constexpr std::size_t kHeldBytesMax = 512;

  explicit Markdown(std::size_t width, Tone tone = Tone::plain);

  std::string feed(std::string_view text);
  // Prints what is held back and ends the line, where one was begun. A code block stays open.
  std::string end_line();
  // Applies from the next line on.
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
  std::string out_;      // of the present call
  std::string partial_;  // the bytes of a character that is not whole yet
  // The line.
  bool at_start_ = true;  // its kind is not known yet
  std::string held_;      // not printed yet: how it begins, or a mark that is open
  char before_ = '\0';    // the byte before held_
  Look look_;             // of its text
  bool wraps_ = true;     // not in code and tables
  std::string prefix_;    // printed where a wrapped line goes on
  std::size_t prefix_cells_ = 0;
  bool in_quote_ = false;
  std::string fence_;  // the marks that opened the code block; empty: none is open
  // What is printed of it.
  bool line_begun_ = false;
  std::size_t column_ = 0;
  std::string space_;  // before the word
  Look space_look_;
  std::vector<Run> word_;
  std::size_t word_cells_ = 0;
};

}  // namespace agentrt::cli
