// cli/views/inline_marks.h: the marks of Markdown within a line: emphasis, code, links.
//
// Text arrives in pieces, so a mark that begins may or may not have its end yet. read_mark() says
// which: the renderer holds back what is open and writes what is no mark as it stands. The rules
// are those of CommonMark where they can be decided within one line, and stricter about emphasis
// inside a word: 2*3*4 and snake_case_names are not emphasised. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace agentrt::cli {

enum class Mark { none, open, escape, code, italic, bold, bold_italic, struck, link };

struct MarkedText {
  Mark mark = Mark::none;
  std::size_t length = 0;   // with its marks
  std::string_view inner;   // without them
  std::string_view target;  // of a link
};

// What comes after the text: the end of the line, or nobody knows.
enum class After { end, unknown };

// What begins at text[0], which follows the byte `before` (0 at the start of a line).
MarkedText read_mark(std::string_view text, char before, After after);

// Whether a mark may begin with `c`.
bool may_begin_mark(char c);
// Whether a mark may end with `c`.
bool may_end_mark(char c);

}  // namespace agentrt::cli
