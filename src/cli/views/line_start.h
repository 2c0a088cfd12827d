// cli/views/line_start.h: classifies a line of Markdown by its start.
//
// A line is styled as soon as its start determines its kind. Until then read_start() returns
// `undecided`, and a few bytes are held back. Pure.
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
  std::size_t indent = 0;    // leading spaces
  std::size_t length = 0;    // of the text that determines the kind, including the indent
  std::size_t level = 0;     // of a heading
  std::string_view label{};  // of a fence: the language; of a numbered item: its number
  std::string_view marks{};  // of a fence: the shortest marker that closes it
};

// `text` is the start of the line; with After::end it is the whole line.
LineStart read_start(std::string_view text, After after);

// Whether `line` closes the code block that `marks` opened, or may still do so.
enum class FenceEnd { no, maybe, yes };
FenceEnd read_fence_end(std::string_view line, std::string_view marks, After after);

}  // namespace agentrt::cli
