#include "cli/views/table.h"

#include <algorithm>
#include <string_view>

#include "cli/views/markdown.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kColumnCellsMin = 4;
constexpr std::size_t kColumnsMax = 30;
constexpr std::size_t kGapCells = 3;  // " │ "

enum class Side { left, middle, right };

struct Cell {
  std::string styled;
  std::string plain;
};
using Row = std::vector<Cell>;

std::vector<std::string> split_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  const std::size_t begin = line.find('|');
  line.remove_prefix(begin == line.npos ? 0 : begin + 1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|')
      cells.back() += line[++i];
    else if (line[i] == '|')
      cells.emplace_back();
    else
      cells.back() += line[i];
  }
  if (cells.size() > 1 && cells.back().find_first_not_of(" \t") == std::string::npos)
    cells.pop_back();
  for (std::string& cell : cells) {
    cell.erase(0, std::min(cell.find_first_not_of(" \t"), cell.size()));
    cell.erase(cell.find_last_not_of(" \t") + 1);
  }
  return cells;
}

bool is_rule(const std::vector<std::string>& cells) {
  return std::ranges::all_of(cells, [](const std::string& cell) {
    return cell.contains('-') && cell.find_first_not_of(":-") == std::string::npos;
  });
}

Side side_of(std::string_view rule) {
  const bool left = rule.starts_with(':'), right = rule.ends_with(':');
  return right ? (left ? Side::middle : Side::right) : Side::left;
}

std::string without_colours(std::string_view styled) {
  std::string out;
  for (std::size_t i = 0; i < styled.size(); ++i) {
    if (styled.substr(i).starts_with("\x1b["))
      i = std::min(styled.find('m', i), styled.size());
    else
      out += styled[i];
  }
  return out;
}

Cell rendered(const std::string& text) {
  // A zero-width start keeps a cell such as "- x" from being a list.
  std::string source;
  if (!text.empty() && !may_begin_mark(text[0]) &&
      std::string_view("#->+|0123456789").contains(text[0]))
    return {safe_text(text), safe_text(text)};
  Markdown markdown(std::size_t{1} << 20);
  source = markdown.feed(text) + markdown.end_line();
  while (source.ends_with('\n')) source.pop_back();
  return {source, without_colours(source)};
}

std::string padded(const std::string& shown, std::size_t cells, std::size_t width, Side side) {
  const std::size_t room = width > cells ? width - cells : 0;
  const std::size_t before = side == Side::right ? room : side == Side::middle ? room / 2 : 0;
  return std::string(before, ' ') + shown + std::string(room - before, ' ');
}

// The columns' widths, the widest reduced until the table fits. Empty: it cannot.
std::vector<std::size_t> fitted(std::vector<std::size_t> widths, std::size_t width) {
  const auto total = [&] {
    std::size_t sum = (widths.size() - 1) * kGapCells;
    for (const std::size_t each : widths) sum += each;
    return sum;
  };
  while (total() > width) {
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= kColumnCellsMin) return {};
    --*widest;
  }
  return widths;
}

void add_row(std::string& out, const Row& row, const std::vector<std::size_t>& widths,
             const std::vector<Side>& sides, bool head) {
  std::vector<std::vector<std::string>> lines(widths.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < widths.size() && i < row.size(); ++i) {
    if (width_of(row[i].plain) > widths[i]) lines[i] = wrap(row[i].plain, widths[i]);
    height = std::max(height, lines[i].size());
  }
  for (std::size_t at = 0; at < height; ++at) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += " \x1b[2m│\x1b[0m ";
      std::string shown, plain;
      if (!lines[i].empty() && at < lines[i].size()) {
        shown = lines[i][at];
        while (shown.ends_with(' ')) shown.pop_back();
        plain = shown;
      } else if (lines[i].empty() && at == 0 && i < row.size()) {
        shown = row[i].styled;
        plain = row[i].plain;
      }
      if (head) shown = paint(plain, Paint::bold, Colour::on);
      line += padded(shown, width_of(plain), widths[i], sides[i]);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
}

}  // namespace

std::string markdown_table(const std::vector<std::string>& rows, std::size_t width) {
  std::string raw;
  for (const std::string& row : rows) raw += safe_text(row) + "\n";
  if (rows.size() < 2) return raw;
  const std::vector<std::string> rule = split_cells(rows[1]);
  if (!is_rule(rule) || rule.size() > kColumnsMax) return raw;
  std::vector<Side> sides;
  sides.reserve(rule.size());
  for (const std::string& cell : rule) sides.push_back(side_of(cell));
  std::vector<Row> table;
  std::vector<std::size_t> widths(rule.size(), 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 1) continue;
    Row row;
    for (const std::string& cell : split_cells(rows[i])) row.push_back(rendered(cell));
    if (row.size() > widths.size()) return raw;  // cells would be lost
    for (std::size_t at = 0; at < row.size(); ++at)
      widths[at] = std::max(widths[at], width_of(row[at].plain));
    table.push_back(std::move(row));
  }
  widths = fitted(std::move(widths), width);
  if (widths.empty()) return raw;
  std::string out;
  add_row(out, table[0], widths, sides, true);
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += "─┼─";
    for (std::size_t at = 0; at < widths[i]; ++at) line += "─";
  }
  out += paint(line, Paint::dim, Colour::on) + "\n";
  for (std::size_t i = 1; i < table.size(); ++i) add_row(out, table[i], widths, sides, false);
  return out;
}

}  // namespace agentrt::cli
