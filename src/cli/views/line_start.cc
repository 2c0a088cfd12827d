#include "cli/views/line_start.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kHeadingLevels = 6;
constexpr std::size_t kNumberDigitsMax = 9;
constexpr std::size_t kFenceMarksMin = 3;
constexpr std::size_t kRuleMarksMin = 3;

std::size_t run_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of(text[at], at);
  return (end == std::string_view::npos ? text.size() : end) - at;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

LineStart plain(LineStart start) {
  start.kind = LineKind::text;
  start.length = start.indent;
  return start;
}

LineStart undecided_or_plain(LineStart start, After after) {
  return after == After::unknown ? start : plain(start);
}

LineStart read_heading(std::string_view text, LineStart start, After after) {
  const std::size_t level = run_at(text, start.indent);
  const std::size_t next = start.indent + level;
  if (level > kHeadingLevels) return plain(start);
  if (next == text.size()) return undecided_or_plain(start, after);
  if (text[next] != ' ') return plain(start);
  start.kind = LineKind::heading;
  start.level = level;
  start.length = next + 1;
  return start;
}

LineStart read_quote(std::string_view text, LineStart start, After after) {
  const std::size_t next = start.indent + 1;
  if (next == text.size() && after == After::unknown) return start;
  start.kind = LineKind::quote;
  start.length = next + (next < text.size() && text[next] == ' ' ? 1 : 0);
  return start;
}

LineStart read_fence(std::string_view text, LineStart start, After after) {
  const std::size_t marks = run_at(text, start.indent);
  const std::size_t next = start.indent + marks;
  if (next == text.size() && after == After::unknown) return start;
  const std::string_view label = text.substr(next);
  if (marks < kFenceMarksMin || label.contains('`')) return plain(start);
  if (after == After::unknown) return start;
  start.kind = LineKind::fence;
  start.length = text.size();
  start.label = trimmed(label);
  start.marks = text.substr(start.indent, marks);
  return start;
}

// A bullet, a rule, or text that starts with emphasis.
LineStart read_bullet(std::string_view text, LineStart start, After after) {
  const std::size_t run = run_at(text, start.indent);
  const std::size_t next = start.indent + run;
  const char c = text[start.indent];
  if (next == text.size()) {
    if (after == After::unknown) return start;
    if (run < kRuleMarksMin || c == '+') return plain(start);
    start.kind = LineKind::rule;
    start.length = text.size();
    return start;
  }
  if (run != 1 || text[next] != ' ' || c == '_') return plain(start);
  start.kind = LineKind::item;
  start.length = next + 1;
  const std::string_view rest = text.substr(start.length);
  for (const auto& [box, kind] : {std::pair{std::string_view("[ ] "), LineKind::to_do},
                                  {"[x] ", LineKind::done},
                                  {"[X] ", LineKind::done}}) {
    if (rest.starts_with(box)) {
      start.kind = kind;
      start.length += box.size();
      return start;
    }
    if (after == After::unknown && box.starts_with(rest)) start.kind = LineKind::undecided;
  }
  return start;
}

LineStart read_numbered(std::string_view text, LineStart start, After after) {
  std::size_t next = text.find_first_not_of("0123456789", start.indent);
  if (next == std::string_view::npos) next = text.size();
  if (next - start.indent > kNumberDigitsMax) return plain(start);
  if (next + 1 >= text.size() && after == After::unknown)
    return next == text.size() || text[next] == '.' || text[next] == ')' ? start : plain(start);
  if (next + 1 >= text.size() || (text[next] != '.' && text[next] != ')') || text[next + 1] != ' ')
    return plain(start);
  start.kind = LineKind::numbered;
  start.label = text.substr(start.indent, next + 1 - start.indent);
  start.length = next + 2;
  return start;
}

}  // namespace

LineStart read_start(std::string_view text, After after) {
  LineStart start;
  const std::size_t first = text.find_first_not_of(' ');
  start.indent = first == std::string_view::npos ? text.size() : first;
  if (first == std::string_view::npos) return undecided_or_plain(start, after);
  switch (text[first]) {
    case '#':
      return read_heading(text, start, after);
    case '>':
      return read_quote(text, start, after);
    case '`':
    case '~':
      return read_fence(text, start, after);
    case '-':
    case '*':
    case '+':
    case '_':
      return read_bullet(text, start, after);
    case '|':
      start = plain(start);
      start.kind = LineKind::table;
      return start;
    default:
      if (text[first] >= '0' && text[first] <= '9') return read_numbered(text, start, after);
      return plain(start);
  }
}

FenceEnd read_fence_end(std::string_view line, std::string_view marks, After after) {
  std::string_view rest = trimmed(line);
  if (rest.empty()) return after == After::unknown ? FenceEnd::maybe : FenceEnd::no;
  if (rest.find_first_not_of(marks[0]) != std::string_view::npos) return FenceEnd::no;
  if (after == After::unknown) return FenceEnd::maybe;
  return rest.size() >= marks.size() ? FenceEnd::yes : FenceEnd::no;
}

}  // namespace agentrt::cli
