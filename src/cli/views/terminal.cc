#include "cli/views/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/views/cells.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kWidthMin = 4;  // what is narrower shows nothing of use
constexpr std::size_t kGap = 2;

// The bytes of the character that starts at `text[at]`; 1 for a byte that starts none.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t size = 1;
  if (lead >= 0xF0)
    size = 4;
  else if (lead >= 0xE0)
    size = 3;
  else if (lead >= 0xC0)
    size = 2;
  return std::min(size, text.size() - at);
}

bool is_text(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first >= 0x20 && first < 0x7F;
  const auto second = static_cast<unsigned char>(character[1]);
  if (character.size() == 2) return !(first == 0xC2 && second < 0xA0);  // U+0080 to U+009F
  if (character.size() == 3 && first == 0xE2) {
    const auto third = static_cast<unsigned char>(character[2]);
    if (second == 0x80 && third >= 0xAA && third <= 0xAE) return false;  // U+202A to U+202E
    if (second == 0x81 && third >= 0xA6 && third <= 0xA9) return false;  // U+2066 to U+2069
  }
  return true;
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
    case Paint::cyan:
      code = "36";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string_view utf8_character(std::string_view text, std::size_t at) {
  return text.substr(at, character_bytes(text, at));
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = utf8_character(text, at);
    at += character.size();
    if (character == "\n" || character == "\t" || is_text(character)) out += character;
  }
  return out;
}

std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = utf8_character(text, at);
    at += character.size();
    if (character == "\n" || character == "\t" || !printable(character).empty()) {
      out += character;
    } else {
      for (const char byte : character)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
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

std::string render(const Table& table, std::size_t width, Colour colour) {
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
