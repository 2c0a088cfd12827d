#include "cli/views/markdown.h"

#include <utility>

#include "cli/views/cells.h"
#include "cli/views/table.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

constexpr std::string_view kCodeIndent = "  ";
constexpr std::size_t kRuleCells = 24;

// The size in bytes of the UTF-8 character with this lead byte.
std::size_t bytes_of_lead(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

Markdown::Markdown(std::size_t width, Tone tone) : width_(width), tone_(tone) {
  look_.dim = tone == Tone::dim;
}

std::string Markdown::feed(std::string_view text) {
  for (const char c : text) {
    // A byte that does not continue the current character ends it as invalid.
    if (!partial_.empty() && !is_continuation(c)) take(std::exchange(partial_, {}));
    partial_ += c;
    if (partial_.size() >= bytes_of_lead(partial_[0])) take(std::exchange(partial_, {}));
  }
  return std::exchange(out_, {});
}

std::string Markdown::end_line() {
  if (!partial_.empty()) take(std::exchange(partial_, {}));
  const bool begun = line_begun_ || !held_.empty() || !word_.empty();
  if (begun) close_line();
  flush_table();
  return std::exchange(out_, {});
}

void Markdown::take(std::string_view character) {
  if (character == "\r") return;
  if (character == "\n") return close_line();
  if (tone_ == Tone::source) return write(safe_text(character), {});
  if (!fence_.empty()) return take_code(character);
  held_ += character;
  if (in_table_ && table_bytes_ + held_.size() <= kTableBytesMax) return;
  if (std::exchange(in_table_, false)) {  // too large: from here on it is printed as it comes
    flush_table();
    wraps_ = false;
  }
  if (at_start_) {
    begin(held_.size() > kHeldBytesMax ? After::end : After::unknown);
    return;
  }
  // Parse an open mark again only if the last byte may have closed it.
  const bool closes = may_end_mark(held_.back()) ||
                      (held_.size() > 1 && may_end_mark(held_[held_.size() - 2])) ||
                      held_.size() <= 4 || held_.size() > kHeldBytesMax;
  if (closes) resolve(After::unknown);
}

void Markdown::close_line() {
  const bool fenced = !fence_.empty();
  if (fenced && at_start_ && read_fence_end(held_, fence_, After::end) == FenceEnd::yes) {
    held_.clear();
    fence_.clear();
    write("└", {.dim = true});
  } else if (fenced) {
    if (!held_.empty()) write(kCodeIndent, {});
    put_text(std::exchange(held_, {}), look_);
  } else {
    if (at_start_) begin(After::end);
    if (std::exchange(in_table_, false)) {
      table_bytes_ += held_.size();
      table_.push_back(std::exchange(held_, {}));
      at_start_ = true;
      return;
    }
    resolve(After::end);
  }
  flush_word();
  out_ += '\n';
  at_start_ = true;
  line_begun_ = false;
  before_ = '\0';
  look_ = {};
  look_.dim = tone_ == Tone::dim;
  look_.code = !fence_.empty();
  wraps_ = fence_.empty();
  prefix_.clear();
  prefix_cells_ = 0;
  in_quote_ = false;
  column_ = 0;
  space_.clear();
}

// Classifies the start of the line; a quote may contain any other kind of line.
void Markdown::begin(After after) {
  while (at_start_) {
    LineStart start = read_start(held_, after);
    if (start.kind == LineKind::undecided) return;
    if (start.kind == LineKind::table && tables_ && !in_quote_ && table_bytes_ < kTableBytesMax) {
      in_table_ = true;
      at_start_ = false;
      return;
    }
    flush_table();
    if (start.kind == LineKind::fence && !in_quote_) return begin_fence(start);
    if (start.kind == LineKind::fence) start = {.kind = LineKind::text, .length = 0};
    at_start_ = start.kind == LineKind::quote && after == After::unknown;
    const std::string spaces(start.indent, ' ');
    put_prefix(spaces, spaces.size(), {});
    if (start.kind == LineKind::quote) {
      in_quote_ = true;
      put_prefix("│ ", 2, {.dim = true});
    } else if (start.kind == LineKind::heading) {
      look_.bold = true;
      look_.underlined = start.level == 1;
    } else if (start.kind == LineKind::rule) {
      std::string rule;
      for (std::size_t i = 0; i < kRuleCells; ++i) rule += "─";
      write(rule, {.dim = true});
    } else if (start.kind == LineKind::table) {
      wraps_ = false;
    } else if (start.kind != LineKind::text) {
      begin_item(start);
    }
    held_.erase(0, start.length);
    if (at_start_ && held_.empty()) return;
  }
  resolve(after);
}

void Markdown::begin_fence(const LineStart& start) {
  const std::string label = start.label.empty() ? "┌" : "┌ " + visible(start.label);
  fence_ = start.marks;
  at_start_ = false;
  held_.clear();
  write(label, {.dim = true});
}

void Markdown::begin_item(const LineStart& start) {
  std::string_view sign = "• ";
  if (start.kind == LineKind::to_do) sign = "☐ ";
  if (start.kind == LineKind::done) sign = "☑ ";
  const std::string number = std::string(start.label) + " ";
  if (start.kind == LineKind::numbered) sign = number;
  const std::size_t cells = width_of(sign);
  write(sign, {.dim = true});
  column_ += cells;
  prefix_.append(cells, ' ');
  prefix_cells_ += cells;
}

void Markdown::flush_table() {
  if (!table_.empty()) out_ += markdown_table(std::exchange(table_, {}), width_);
  table_bytes_ = 0;
}

// Holds back a line of a code block while it may be the closing fence.
void Markdown::take_code(std::string_view character) {
  if (at_start_) {
    held_ += character;
    if (held_.size() <= kHeldBytesMax &&
        read_fence_end(held_, fence_, After::unknown) == FenceEnd::maybe)
      return;
    at_start_ = false;
    write(kCodeIndent, {});
    put_text(std::exchange(held_, {}), look_);
    return;
  }
  put_text(character, look_);
}

// Prints the decided part of held_.
void Markdown::resolve(After after) {
  while (!held_.empty()) {
    MarkedText mark;
    if (wraps_ && may_begin_mark(held_[0])) mark = read_mark(held_, before_, after);
    if (mark.mark == Mark::open && held_.size() <= kHeldBytesMax) return;
    std::size_t length = mark.length;
    if (mark.mark == Mark::none || mark.mark == Mark::open) {
      length = utf8_character(held_, 0).size();
      put_text(std::string_view(held_).substr(0, length), look_);
    } else {
      put_mark(mark, look_);
    }
    before_ = held_[length - 1];
    held_.erase(0, length);
  }
}

void Markdown::put_mark(const MarkedText& mark, Look look) {
  switch (mark.mark) {
    case Mark::none:
    case Mark::open:
      return;
    case Mark::escape:
      return put_text(mark.inner, look);
    case Mark::code:
      look.code = true;
      return put_text(mark.inner, look);
    case Mark::italic:
      look.italic = true;
      return put_marked(mark.inner, look);
    case Mark::bold:
      look.bold = true;
      return put_marked(mark.inner, look);
    case Mark::bold_italic:
      look.bold = look.italic = true;
      return put_marked(mark.inner, look);
    case Mark::struck:
      look.struck = true;
      return put_marked(mark.inner, look);
    case Mark::link: {
      Look text = look;
      text.underlined = true;
      put_marked(mark.inner, text);
      look.dim = true;
      if (mark.target != mark.inner) put_text(" (" + std::string(mark.target) + ")", look);
      return;
    }
  }
}

// Prints complete text with its inline marks.
void Markdown::put_marked(std::string_view text, Look look) {
  char before = '\0';
  while (!text.empty()) {
    const MarkedText mark =
        may_begin_mark(text[0]) ? read_mark(text, before, After::end) : MarkedText{};
    const std::size_t length =
        mark.mark == Mark::none ? utf8_character(text, 0).size() : mark.length;
    if (mark.mark == Mark::none)
      put_text(text.substr(0, length), look);
    else
      put_mark(mark, look);
    before = text[length - 1];
    text.remove_prefix(length);
  }
}

void Markdown::put_text(std::string_view text, Look look) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = utf8_character(text, at);
    put_character(character, look);
    at += character.size();
  }
}

void Markdown::put_character(std::string_view character, Look look) {
  if (character == " " || character == "\t") {
    flush_word();
    space_ += wraps_ ? " " : character;
    // Underline and strikethrough continue between words; other styles are invisible there.
    space_look_ = {.underlined = look.underlined, .struck = look.struck};
    return;
  }
  const std::string safe = safe_text(character);
  const std::size_t cells = safe.size() == character.size() ? cells_of(safe) : safe.size();
  // Scripts without spaces may break anywhere.
  if (cells == 2) flush_word();
  if (word_.empty() || word_.back().look != look) word_.push_back({{}, look});
  word_.back().text += safe;
  word_cells_ += cells;
  if (cells == 2) flush_word();
}

// Prints the prefix of the line, which is repeated on continuation lines.
void Markdown::put_prefix(std::string_view text, std::size_t cells, Look look) {
  if (text.empty()) return;
  write(text, look);
  column_ += cells;
  prefix_ += styled(text, look);
  prefix_cells_ += cells;
}

void Markdown::flush_word() {
  if (word_.empty()) return;
  const std::size_t end = column_ + space_.size() + word_cells_;
  if (wraps_ && end > width_ && column_ > prefix_cells_) {
    out_ += '\n';
    const bool room = prefix_cells_ * 2 <= width_;
    if (room) out_ += prefix_;
    column_ = room ? prefix_cells_ : 0;
  } else {
    write(space_, space_look_);
    column_ += space_.size();
  }
  space_.clear();
  for (const Run& run : word_) write(run.text, run.look);
  column_ += word_cells_;
  if (column_ > width_) column_ = (column_ - 1) % width_ + 1;  // the terminal has folded the line
  word_.clear();
  word_cells_ = 0;
}

void Markdown::write(std::string_view text, Look look) {
  line_begun_ = true;
  out_ += styled(text, look);
}

std::string Markdown::styled(std::string_view text, Look look) {
  std::string codes;
  const auto add = [&codes](bool wanted, std::string_view code) {
    if (wanted) codes += (codes.empty() ? "" : ";") + std::string(code);
  };
  add(look.bold, "1");
  add(look.dim, "2");
  add(look.italic, "3");
  add(look.underlined, "4");
  add(look.struck, "9");
  add(look.code, "36");
  if (codes.empty() || text.empty()) return std::string(text);
  return "\x1b[" + codes + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace agentrt::cli
