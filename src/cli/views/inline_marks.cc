#include "cli/views/inline_marks.h"

namespace agentrt::cli {
namespace {

// Levels of nested emphasis; deeper marks are text. Bounds the cost of a line of unmatched marks.
constexpr int kDepthMax = 2;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\0'; }
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_punctuation(char c) { return c > ' ' && c < 0x7F && !is_word(c); }

std::size_t run_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of(text[at], at);
  return (end == std::string_view::npos ? text.size() : end) - at;
}

MarkedText missing(After after) { return {after == After::unknown ? Mark::open : Mark::none}; }

MarkedText read_escape(std::string_view text, After after) {
  if (text.size() < 2) return missing(after);
  if (!is_punctuation(text[1])) return {};
  return {Mark::escape, 2, text.substr(1, 1), {}};
}

MarkedText read_code(std::string_view text, After after) {
  const std::size_t ticks = run_at(text, 0);
  std::size_t at = ticks;
  while ((at = text.find('`', at)) != std::string_view::npos) {
    const std::size_t run = run_at(text, at);
    // the run may continue in the next chunk
    if (at + run == text.size() && after == After::unknown) break;
    if (run == ticks) {
      std::string_view inner = text.substr(ticks, at - ticks);
      if (inner.size() > 2 && inner.starts_with(' ') && inner.ends_with(' '))
        inner = inner.substr(1, inner.size() - 2);
      return {Mark::code, at + run, inner, {}};
    }
    at += run;
  }
  return missing(after);
}

// The position of the bracket that closes the one at text[at]; npos if it is unclosed.
std::size_t closing(std::string_view text, std::size_t at, char open, char close) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

MarkedText read_link(std::string_view text, After after) {
  const std::size_t begin = text[0] == '!' ? 1 : 0;
  if (begin == text.size()) return missing(after);
  if (text[begin] != '[') return {};
  const std::size_t end = closing(text, begin, '[', ']');
  if (end == std::string_view::npos || end + 1 == text.size()) return missing(after);
  if (text[end + 1] != '(' || end == begin + 1) return {};
  const std::size_t last = closing(text, end + 1, '(', ')');
  if (last == std::string_view::npos) return missing(after);
  std::string_view target = text.substr(end + 2, last - end - 2);
  target = target.substr(0, target.find(' '));  // a title may follow
  return {Mark::link, last + 1, text.substr(begin + 1, end - begin - 1), target};
}

MarkedText read_emphasis(std::string_view text, char before, After after, int depth);

// The length of the element at text[at] within emphasis; 0 if it is still open.
std::size_t skip(std::string_view text, std::size_t at, After after, int depth) {
  MarkedText mark;
  const char c = text[at];
  if (c == '\\') return 2;
  if (c == '`') mark = read_code(text.substr(at), after);
  if ((c == '*' || c == '_') && depth < kDepthMax)
    mark = read_emphasis(text.substr(at), text[at - 1], after, depth + 1);
  if (mark.mark == Mark::open) return 0;
  return mark.mark == Mark::none ? run_at(text, at) : mark.length;
}

Mark emphasis_of(char c, std::size_t marks) {
  if (c == '~') return Mark::struck;
  return marks == 1 ? Mark::italic : marks == 2 ? Mark::bold : Mark::bold_italic;
}

MarkedText read_emphasis(std::string_view text, char before, After after, int depth) {
  const char c = text[0];
  const std::size_t marks = run_at(text, 0);
  if (marks == text.size()) return missing(after);
  if (marks > 3 || (c == '~' && marks != 2) || is_word(before) || is_space(text[marks])) return {};
  std::size_t at = marks;
  while (at < text.size()) {
    if (text[at] != c || is_space(text[at - 1])) {
      const std::size_t step =
          may_begin_mark(text[at]) && text[at] != '[' ? skip(text, at, after, depth) : 1;
      if (step == 0) return {Mark::open};
      at += step;
      continue;
    }
    const std::size_t run = run_at(text, at);
    const std::size_t end = at + marks;
    if (at + run == text.size() && after == After::unknown) return {Mark::open};
    if (run >= marks && (end == text.size() || !is_word(text[end])))
      return {emphasis_of(c, marks), end, text.substr(marks, at - marks), {}};
    const std::size_t step = skip(text, at, after, depth);
    if (step == 0) return {Mark::open};
    at += step;
  }
  return missing(after);
}

}  // namespace

bool may_begin_mark(char c) {
  return c == '*' || c == '_' || c == '`' || c == '[' || c == '!' || c == '~' || c == '\\';
}

bool may_end_mark(char c) {
  return c == '*' || c == '_' || c == '`' || c == ')' || c == ']' || c == '~';
}

MarkedText read_mark(std::string_view text, char before, After after) {
  switch (text.empty() ? '\0' : text[0]) {
    case '\\':
      return read_escape(text, after);
    case '`':
      return read_code(text, after);
    case '[':
    case '!':
      return read_link(text, after);
    case '*':
    case '_':
    case '~':
      return read_emphasis(text, before, after, 1);
    default:
      return {};
  }
}

}  // namespace agentrt::cli
