// cli/views/layout.h: rows, blocks and lists of keys, as questions to a person use them.
//
// Text is escaped (cli/views/terminal.h) and wrapped to the paper's width at spaces. Nothing is
// left out. A line of a block that continues the one before it begins with ↪, so that a break of
// the terminal cannot be taken for one of the text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/views/call_view.h"

namespace agentrt::cli {

// The text in lines of at most `width` columns, without the spaces at which it was broken. A word
// that is wider than a line is cut. Width 0: one line.
std::vector<std::string> prose_lines(std::string_view text, std::size_t width);

// "  name         text"
void add_row(std::string& out, std::string_view name, std::string_view text, Paint how,
             Paper paper);
// The lines of the text, indented by four columns.
void add_block(std::string& out, std::string_view text, Paint how, Paper paper);
// One paragraph, indented by two columns.
void add_paragraph(std::string& out, std::string_view text, Paint how, Paper paper);

// What a person may type, and what it means.
struct KeyRow {
  std::string key;
  std::string meaning;
};
// One key per line, and the mark behind which the answer is typed.
std::string keys_text(const std::vector<KeyRow>& keys, Paper paper);

}  // namespace agentrt::cli
