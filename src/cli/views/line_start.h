// cli/views/line_start.h: what kind of line of Markdown begins here.
//
// A line is styled as soon as its beginning tells what it is; until then read_start() says that it
// is undecided, and a few bytes are held back. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "cli/views/inline_marks.h"

namespace agentrt::cli {

enum class LineKind {
  undecided,
  text,
  heading,
  item,
  numbered,
  to_do,
  done,
  quote,
  rule,
  fence,
  table
};

struct LineStart {
  LineKind kind = LineKind::undecided;
  std::size_t indent = 0;    // spaces before it
  std::size_t length = 0;    // of what tells the kind, with those spaces
  std::size_t level = 0;     // of a heading
  std::string_view label{};  // of a fence: the language; of a numbered item: its number
  std::string_view marks{};  // of a fence: what closes it, at least
};

// `text` is how the line begins; with After::end it is all of it.
LineStart read_start(std::string_view text, After after);

// Whether `line` may still become, or is, the end of a block that `marks` opened.
enum class FenceEnd { no, maybe, yes };
FenceEnd read_fence_end(std::string_view line, std::string_view marks, After after);

}  // namespace agentrt::cli
