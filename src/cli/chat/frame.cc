#include "cli/chat/frame.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/views/cells.h"

namespace agentrt::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
// The terminal shows what is between these at once, if it can.
constexpr std::string_view kHold = "\x1b[?2026h";
constexpr std::string_view kRelease = "\x1b[?2026l";

// The colour sequence at the start of the text; empty: a character is there.
std::string_view colour_at(std::string_view text) {
  if (!text.starts_with("\x1b[")) return {};
  const std::size_t end = text.find('m');
  return end == text.npos ? std::string_view() : text.substr(0, end + 1);
}

// Rows of the input, and the place of the cursor in them.
struct InputRows {
  std::vector<std::string> rows;
  std::size_t cursor_row = 0;
  std::size_t cursor_column = 0;
};

InputRows input_rows(const FrameParts& parts, std::size_t width) {
  const std::size_t indent = parts.mark_cells * 2 <= width ? parts.mark_cells : 0;
  InputRows out;
  std::string row;
  std::size_t column = indent;
  const auto finish = [&] {
    const bool first = out.rows.empty();
    const std::string lead = indent == 0 ? "" : first ? parts.mark : std::string(indent, ' ');
    out.rows.push_back(lead + std::exchange(row, {}));
    column = indent;
  };
  const std::string& input = parts.input;
  for (std::size_t at = 0;;) {
    const std::string_view character =
        at < input.size() ? utf8_character(input, at) : std::string_view();
    const bool breaks = character == "\n";
    const std::size_t cells = breaks ? 0 : character == "\t" ? 2 : cells_of(character);
    // The cursor needs a column of its own, also behind the last character.
    if (column + std::max<std::size_t>(cells, 1) > width && !breaks) finish();
    if (at == parts.cursor) {
      out.cursor_row = out.rows.size();
      out.cursor_column = column;
    }
    if (at >= input.size()) break;
    at += character.size();
    if (breaks) {
      finish();
      continue;
    }
    row += character == "\t" ? "  " : std::string(character);
    column += cells;
  }
  finish();
  return out;
}

// Keeps `count` rows around the cursor.
void cut_input(InputRows& input, std::size_t count) {
  if (input.rows.size() <= count) return;
  std::size_t from = input.cursor_row >= count ? input.cursor_row - count + 1 : 0;
  from = std::min(from, input.rows.size() - count);
  input.rows = {input.rows.begin() + static_cast<std::ptrdiff_t>(from),
                input.rows.begin() + static_cast<std::ptrdiff_t>(from + count)};
  input.cursor_row -= from;
}

void keep_last(std::vector<std::string>& rows, std::size_t count) {
  if (rows.size() > count)
    rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(count));
}

}  // namespace

std::vector<std::string> fold(std::string_view styled, std::size_t width) {
  std::vector<std::string> rows(1);
  std::string look;  // the colours in force
  std::size_t column = 0;
  while (!styled.empty()) {
    if (const std::string_view colour = colour_at(styled); !colour.empty()) {
      if (colour == kReset)
        look.clear();
      else
        look += colour;
      rows.back() += colour;
      styled.remove_prefix(colour.size());
      continue;
    }
    const std::string_view character = utf8_character(styled, 0);
    styled.remove_prefix(character.size());
    const std::string shown = character == "\t" ? "    " : std::string(character);
    const std::size_t cells = width_of(shown);
    if (width > 0 && column > 0 && column + cells > width) {
      if (!look.empty()) rows.back() += kReset;
      rows.push_back(look);
      column = 0;
    }
    rows.back() += shown;
    column += cells;
  }
  if (!look.empty()) rows.back() += kReset;
  return rows;
}

std::string fit_styled(std::string_view styled, std::size_t width) {
  std::vector<std::string> rows = fold(styled, width);
  if (rows.size() == 1) return rows.front();
  if (width == 0) return {};
  std::string cut = fold(styled, width - 1).front();
  const bool coloured = cut.ends_with(kReset);
  if (coloured) cut.resize(cut.size() - kReset.size());
  return cut + "…" + (coloured ? std::string(kReset) : "");
}

Frame lay_out(const FrameParts& parts, Size size) {
  const std::size_t width = std::max<std::size_t>(size.columns, 4) - 1;
  const std::size_t height = std::max<std::size_t>(size.rows, 2);
  InputRows input = input_rows(parts, width);
  std::size_t left = height - 1;  // one row is for the status line
  cut_input(input, std::min({input.rows.size(), kInputRowsMax, left}));
  left -= input.rows.size();
  std::vector<std::string> below = parts.below;
  if (below.size() > left) below.resize(left);
  left -= below.size();
  std::vector<std::string> queue = parts.queue;
  if (queue.size() > left) queue.resize(left);
  left -= queue.size();
  std::vector<std::string> running = parts.running;
  keep_last(running, left);
  left -= running.size();
  std::vector<std::string> open;
  if (!parts.open.empty()) open = fold(parts.open, width);
  keep_last(open, std::min(left, kOpenRowsMax));

  Frame frame;
  frame.rows = std::move(open);
  const auto add = [&](const std::vector<std::string>& rows) {
    for (const std::string& row : rows) frame.rows.push_back(fit_styled(row, width));
  };
  add(running);
  add(queue);
  frame.cursor_row = frame.rows.size() + input.cursor_row;
  frame.cursor_column = input.cursor_column;
  frame.rows.insert(frame.rows.end(), input.rows.begin(), input.rows.end());
  add(below);
  frame.rows.push_back(fit_styled(parts.status, width));
  return frame;
}

std::string Canvas::to_top() const {
  if (!visible_) return {};
  std::string out = "\r";
  if (drawn_.cursor_row > 0) out += fmt::format("\x1b[{}A", drawn_.cursor_row);
  return out;
}

std::string Canvas::paint_frame(const Frame& frame) {
  std::string out;
  for (std::size_t i = 0; i < frame.rows.size(); ++i)
    out += (i > 0 ? "\r\n" : "") + frame.rows[i] + "\x1b[K";
  out += "\x1b[J\r";
  const std::size_t up = frame.rows.size() - 1 - frame.cursor_row;
  if (up > 0) out += fmt::format("\x1b[{}A", up);
  if (frame.cursor_column > 0) out += fmt::format("\x1b[{}C", frame.cursor_column);
  drawn_ = frame;
  visible_ = true;
  return out;
}

namespace {

// Each line feed needs a carriage return: the terminal is in raw mode.
std::string raw_lines(std::string_view lines) {
  std::string out;
  for (const char c : lines) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

}  // namespace

std::string Canvas::draw(std::string_view above, const Frame& frame) {
  if (above.empty() && visible_ && frame == drawn_) return {};
  std::string out(kHold);
  out += to_top();
  if (!above.empty()) out += "\x1b[J" + raw_lines(above);
  return out + paint_frame(frame) + std::string(kRelease);
}

std::string Canvas::redraw(std::string_view above, const Frame& frame) {
  visible_ = false;
  return std::string(kHold) + "\x1b[H\x1b[J" + raw_lines(above) + paint_frame(frame) +
         std::string(kRelease);
}

std::string Canvas::erase() {
  if (!visible_) return {};
  const std::string out = to_top() + "\x1b[J";
  visible_ = false;
  return out;
}

}  // namespace agentrt::cli
