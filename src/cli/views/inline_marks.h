// cli/views/inline_marks.h: parses the inline marks of Markdown: emphasis, code, links.
//
// Text arrives in chunks, so the end of an open mark may not have arrived. read_mark() reports
// that; the renderer then holds the text back, and prints text that is not a mark verbatim. Follows
// CommonMark where the decision needs only one line, and is stricter about emphasis inside a word:
// 2*3*4 and snake_case_names are not emphasised. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace agentrt::cli {

enum class Mark { none, open, escape, code, italic, bold, bold_italic, struck, link };

struct MarkedText {
  Mark mark = Mark::none;
  std::size_t length = 0;   // including the marks
  std::string_view inner;   // excluding the marks
  std::string_view target;  // of a link
};

// What follows the text: the end of the line, or text that has not arrived.
enum class After { end, unknown };

// Parses the mark at text[0]. `before` is the preceding byte (0 at the start of a line).
MarkedText read_mark(std::string_view text, char before, After after);

// Whether a mark may begin with `c`.
bool may_begin_mark(char c);
// Whether a mark may end with `c`.
bool may_end_mark(char c);

}  // namespace agentrt::cli
