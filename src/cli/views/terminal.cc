#include "cli/views/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "cli/views/cells.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kWidthMin = 4;  // a narrower terminal is unusable
constexpr std::size_t kGap = 2;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The size in bytes of the character at `text[at]`; 1 for an invalid byte.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t size = 1;
  if (lead >= 0xF0)
    size = 4;
  else if (lead >= 0xE0)
    size = 3;
  else if (lead >= 0xC0)
    size = 2;
  if (size > text.size() - at) return 1;
  for (std::size_t i = 1; i < size; ++i)
    if (!is_continuation(text[at + i])) return 1;
  return size;
}

constexpr char32_t kBroken = 0xFFFFFFFF;  // an invalid byte

// `character` is as delimited by character_bytes().
char32_t code_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x80 ? lead : kBroken;
  char32_t code = lead & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

struct CodeRange {
  char32_t first, last;
};

// Controls a terminal or reverses the writing direction.
constexpr CodeRange kSteering[] = {
    {0x00, 0x1F}, {0x7F, 0x9F}, {0x202A, 0x202E}, {0x2066, 0x2069}, {kBroken, kBroken}};
// Invisible or looks like a blank: the displayed text would differ from the real one.
constexpr CodeRange kUnseen[] = {
    {0x00AD, 0x00AD},   {0x034F, 0x034F},  {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},  {0x2028, 0x2029}, {0x2060, 0x206F}, {0x2800, 0x2800},
    {0x3164, 0x3164},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

bool is_among(char32_t code, std::span<const CodeRange> ranges) {
  return std::ranges::any_of(
      ranges, [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

bool is_layout(char32_t code) { return code == '\n' || code == '\t'; }

// Replaces each character selected by `hide` with the result of `spell`.
template <class Hide, class Spell>
std::string written_out(std::string_view text, Hide hide, Spell spell) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = utf8_character(text, at);
    at += character.size();
    const char32_t code = code_of(character);
    if (hide(code))
      spell(out, character, code);
    else
      out += character;
  }
  return out;
}

bool is_hidden(char32_t code) { return is_among(code, kSteering) || is_among(code, kUnseen); }

void spell_out(std::string& out, std::string_view character, char32_t) {
  for (const char byte : character)
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

}  // namespace

Screen standard_screen() {
  Screen screen;
  screen.out_terminal = ::isatty(STDOUT_FILENO) == 1;
  screen.err_terminal = ::isatty(STDERR_FILENO) == 1;
  screen.in_terminal = ::isatty(STDIN_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const bool wanted = (no_color == nullptr || *no_color == '\0') && !dumb;
  if (wanted && screen.out_terminal) screen.out_colour = Colour::on;
  if (wanted && screen.err_terminal) screen.err_colour = Colour::on;
  screen.live = screen.out_terminal && screen.err_terminal && !dumb;
  if (screen.out_terminal) screen.width = terminal_width(screen.width);
  return screen;
}

std::size_t terminal_width(std::size_t otherwise) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return std::max<std::size_t>(size.ws_col, kWidthMin);
}

std::string spoken_status(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string paint(std::string_view text, Paint how, Colour colour) {
  if (colour == Colour::off || how == Paint::plain || text.empty()) return std::string(text);
  std::string_view code = "0";
  switch (how) {
    case Paint::plain:
      break;
    case Paint::dim:
      code = "2";
      break;
    case Paint::bold:
      code = "1";
      break;
    case Paint::red:
      code = "31";
      break;
    case Paint::green:
      code = "32";
      break;
    case Paint::yellow:
      code = "33";
      break;
    case Paint::alarm:
      code = "1;97;41";  // bold, white on red
      break;
    case Paint::cyan:
      code = "36";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string_view utf8_character(std::string_view text, std::size_t at) {
  return text.substr(at, character_bytes(text, at));
}

std::string safe_text(std::string_view text) {
  return written_out(
      text, [](char32_t code) { return !is_layout(code) && is_among(code, kSteering); }, spell_out);
}

std::string visible(std::string_view text) {
  return written_out(
      text, [](char32_t code) { return !is_layout(code) && is_hidden(code); }, spell_out);
}

std::string visible_line(std::string_view text) {
  return written_out(text, is_hidden,
                     [](std::string& out, std::string_view character, char32_t code) {
                       if (is_layout(code))
                         out += code == '\n' ? "\\n" : "\\t";
                       else
                         spell_out(out, character, code);
                     });
}

std::string visible_json(std::string_view json) {
  return written_out(
      json, [](char32_t code) { return !is_layout(code) && code != '\r' && is_hidden(code); },
      [](std::string& out, std::string_view, char32_t code) {
        if (code == kBroken) code = 0xFFFD;
        if (code <= 0xFFFF) {
          out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
        } else {
          const auto pair = static_cast<std::uint32_t>(code - 0x10000);
          out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (pair >> 10), 0xDC00 + (pair & 0x3FF));
        }
      });
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::size_t width_of(std::string_view text) {
  std::size_t cells = 0;
  for (std::size_t at = 0; at < text.size(); at += character_bytes(text, at))
    cells += cells_of(utf8_character(text, at));
  return cells;
}

std::string fit(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t at = 0;
  for (std::size_t shown = 0;;) {
    const std::string_view character = utf8_character(text, at);
    shown += cells_of(character);
    if (shown + 1 > width) break;
    at += character.size();
  }
  return std::string(text.substr(0, at)) + "…";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  const auto cells_until_space = [&](std::size_t at) {
    std::size_t cells = 0;
    while (at < text.size() && text[at] != ' ') {
      const std::string_view character = utf8_character(text, at);
      cells += cells_of(character);
      at += character.size();
    }
    return cells;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = utf8_character(text, at);
    const bool word_begins = at > 0 && text[at - 1] == ' ' && text[at] != ' ';
    const std::size_t word = word_begins ? cells_until_space(at) : 0;
    const bool word_fits_below = word <= width && column + word > width;
    if (width > 0 && column > 0 && (column + cells_of(character) > width || word_fits_below)) {
      lines.emplace_back();
      column = 0;
    }
    lines.back() += character;
    column += cells_of(character);
    at += character.size();
  }
  return lines;
}

std::string render(const Table& given, std::size_t width, Colour colour) {
  Table table = given;
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = one_line(cell);
  std::vector<std::size_t> widths;
  for (const std::string& name : table.head) widths.push_back(width_of(name));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + kGap;
  const std::size_t last = width > before ? std::max<std::size_t>(width - before, 8) : 8;

  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i + 1 == cells.size()) {
        out += fit(cells[i], last);
      } else {
        out += cells[i] + std::string(widths[i] - width_of(cells[i]) + kGap, ' ');
      }
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
  };
  std::string out = paint(line(table.head), Paint::dim, colour) + "\n";
  for (const auto& row : table.rows) out += line(row) + "\n";
  return out;
}

std::string spoken_duration(std::int64_t ms) {
  if (ms < 1'000) return fmt::format("{} ms", std::max<std::int64_t>(ms, 0));
  if (ms < 60'000) return fmt::format("{}.{} s", ms / 1'000, ms % 1'000 / 100);
  return fmt::format("{} min {} s", ms / 60'000, ms % 60'000 / 1'000);
}

std::string spoken_age(Timestamp at, Timestamp now) {
  constexpr std::int64_t kMinute = 60'000;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t age = now - at;
  if (age < kMinute) return "just now";
  if (age < kHour) return fmt::format("{} min ago", age / kMinute);
  if (age < kDay) return fmt::format("{} h ago", age / kHour);
  if (age < 2 * kDay) return "yesterday";
  if (age < 30 * kDay) return fmt::format("{} days ago", age / kDay);
  return format(at).substr(0, 10);
}

}  // namespace agentrt::cli
