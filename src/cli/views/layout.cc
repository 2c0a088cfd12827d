#include "cli/views/layout.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::cli {
namespace {

constexpr std::size_t kNameCells = 12;
constexpr std::size_t kIndent = 4;
constexpr std::size_t kTextCellsMin = 20;  // beside a name; otherwise the text goes below it

// Lines of a text that begins in column `column` and continues there.
std::string hanging(std::string_view text, std::size_t column, Paint how, Paper paper) {
  const std::size_t room = paper.width > column ? paper.width - column : 0;
  std::string out;
  for (const std::string& line : prose_lines(text, room)) {
    if (!out.empty()) out += "\n" + std::string(column, ' ');
    out += paint(line, how, paper.colour);
  }
  return out + "\n";
}

}  // namespace

std::vector<std::string> prose_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines = wrap(text, width);
  if (lines.size() == 1) return lines;
  for (std::string& line : lines) {
    if (&line != &lines.front()) line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    while (line.ends_with(' ')) line.pop_back();
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

void add_row(std::string& out, std::string_view name, std::string_view text, Paint how,
             Paper paper) {
  const std::string label =
      paint(fmt::format("{:<{}}", visible_line(name), kNameCells), Paint::dim, paper.colour);
  const std::size_t column = 2 + kNameCells + 1;
  if (paper.width == 0 || paper.width >= column + kTextCellsMin)
    out += fmt::format("  {} {}", label, hanging(visible_line(text), column, how, paper));
  else
    out += fmt::format("  {}\n{}{}", label, std::string(kIndent, ' '),
                       hanging(visible_line(text), kIndent, how, paper));
}

void add_block(std::string& out, std::string_view text, Paint how, Paper paper) {
  const std::size_t room = paper.width > kIndent ? paper.width - kIndent : 0;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find('\n');
    std::string_view lead = "    ";
    for (const std::string& line : wrap(visible(rest.substr(0, end)), room)) {
      out += std::string(lead) + paint(line, how, paper.colour) + "\n";
      lead = "  ↪ ";
    }
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

void add_paragraph(std::string& out, std::string_view text, Paint how, Paper paper) {
  out += "  " + hanging(one_line(text), 2, how, paper);
}

std::string keys_text(const std::vector<KeyRow>& keys, Paper paper) {
  std::size_t widest = 0;
  for (const KeyRow& key : keys) widest = std::max(widest, width_of(key.key));
  std::string out;
  for (const KeyRow& key : keys) {
    const std::string pad(widest - width_of(key.key) + 2, ' ');
    out += "  " + paint(key.key, Paint::cyan, paper.colour) + pad +
           hanging(visible_line(key.meaning), widest + 4, Paint::plain, paper);
  }
  return out + "  > ";
}

}  // namespace agentrt::cli
