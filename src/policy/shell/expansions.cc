// Parses expansions after a dollar sign or backtick, and the bodies of here-documents.
#include "policy/shell/reader.h"

#include <algorithm>

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kNpos = {};
// Blanks skipped to find an operator; after more, none is found.
constexpr std::size_t kBlanksAhead = 16;
constexpr std::size_t kSmallDigits = 18;  // a product of so many digits fits into 64 bits

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? true : c == '_'; }

bool plain_subscript(std::string_view text) {
  return text == "@" || text == "*" || (!text.empty() && std::ranges::all_of(text, is_digit));
}

}  // namespace

void Reader::dollar(Word& out, Quoting quoting) {
  const char c = peek();
  if (c == '\'' && quoting == Quoting::none) {
    take();
    return ansi_quotes(out);
  }
  if (c == '"' && quoting == Quoting::none) {
    only_bash();
    take();
    return double_quotes(out);
  }
  if (c == '(') {
    take();
    if (peek() == '(' && is_arithmetic("))")) {
      take();
      const bool negative = arithmetic("))");
      add(out, Piece::Kind::number, {}, quoting);
      out.pieces.back().negative = negative;
      return;
    }
    command_substitution();
    return add(out, Piece::Kind::computed, {}, quoting);
  }
  if (c == '[') {
    only_bash();
    take();
    const bool negative = arithmetic("]");
    add(out, Piece::Kind::number, {}, quoting);
    out.pieces.back().negative = negative;
    return;
  }
  if (c == '{') {
    take();
    return braced(out, quoting);
  }
  if (is_name_start(c)) return add_variable(out, name(), quoting);
  if (c == '?' || c == '#' || c == '$') {
    take();
    return add(out, Piece::Kind::number, {}, quoting);
  }
  // $! is a number, or empty if no background job has run.
  if (c == '!') return add(out, Piece::Kind::variable, std::string(1, take()), quoting);
  if (is_digit(c) || c == '@' || c == '*' || c == '-') {
    add(out, Piece::Kind::computed, std::string(1, take()), quoting);
    out.pieces.back().several = c == '@';
    return;
  }
  add_text(out, '$', quoting);
}

void Reader::add_variable(Word& out, std::string of, Quoting quoting) {
  const bool sure = reading_.assigned.contains(of);
  add(out, Piece::Kind::variable, std::move(of), quoting);
  out.pieces.back().sure = sure;
}

// After `${`.
void Reader::braced(Word& out, Quoting quoting) {
  if (!enter()) return;
  if (take_if("#}")) {  // ${#}
    add(out, Piece::Kind::number, {}, quoting);
  } else if (peek() == '#' && peek(1) != '}') {
    take();
    const std::string of = name();
    if (peek() == '[') subscript(of);
    if (of.empty()) take();  // ${#@}, ${#1}
    if (!take_if("}")) fail("a ${…} expansion is not supported");
    add(out, Piece::Kind::number, {}, quoting);
  } else if (peek() == '!') {
    doubt("${!…} takes the name of a variable from another variable");
    take();
    braced_word(quoting, "}");
    add(out, Piece::Kind::computed, {}, quoting);
  } else {
    std::string of = name();
    if (of.empty() && (is_digit(peek()) || std::string_view("@*?$-").find(peek()) != kNpos.npos))
      for (of += take(); is_digit(peek());) of += take();
    if (of.empty()) fail("${ is not followed by a name");
    braced_rest(of, quoting, out);
  }
  leave();
}

// After the name: an optional subscript, an operator and its word.
void Reader::braced_rest(const std::string& of, Quoting quoting, Word& out) {
  bool plain = is_name_start(of[0]);
  bool several = of == "@";
  if (peek() == '[') {
    several = subscript(of);
    plain = false;
  }
  if (take_if("}")) {
    if (plain) return add_variable(out, of, quoting);
    add(out, Piece::Kind::computed, of, quoting);
    out.pieces.back().several = several;
    return;
  }
  several = braced_operation(of, quoting) || several;
  add(out, Piece::Kind::computed, {}, quoting);
  out.pieces.back().several = several;
}

// Parses the operator after the name, up to `}`. Returns whether its word may become several words.
bool Reader::braced_operation(const std::string& of, Quoting quoting) {
  const char operation = take();
  if (operation == '@') {
    if (std::string_view("QUuLAaKk").find(peek()) == kNpos.npos)
      doubt("${…@P} runs commands in the value of a variable");
    take();
    if (!take_if("}")) fail("a ${…} expansion is not supported");
    return false;
  }
  if (std::string_view(":-=?+#%/^,").find(operation) == kNpos.npos) {
    fail("${…} has an unknown operator");
    return false;
  }
  const char next = peek();
  const bool slice = operation == ':' && std::string_view("-=?+").find(next) == kNpos.npos;
  if (slice) {
    arithmetic("}");
    return false;
  }
  if (operation == '=' || (operation == ':' && next == '=')) {
    reading_.script.unsure_names.insert(of);
    doubt("${…=…} sets a variable");
  }
  return braced_word(quoting, "}");
}

// Parses a word up to `until`, inside the surrounding quotes. Returns whether it may become several
// words.
bool Reader::braced_word(Quoting quoting, std::string_view until) {
  Word inner;
  while (!at_end()) {
    if (take_if(until)) return std::ranges::any_of(inner.pieces, &Piece::several);
    const char c = peek();
    const char quote = c == '$' ? peek(1) : c;  // $'…' is text here, and its content is expanded
    if (quoting == Quoting::quoted && (quote == '\'' || quote == '"'))
      doubt("shells parse quotes within a quoted ${…} in different ways");
    // Here bash decodes $'…' without quoting the result, and later expands it as part of the text.
    if (open_quotes_ > 0 && c == '$' && quote == '\'')
      doubt("a ${…} in a quoted command substitution contains $'…'");
    if (quoting == Quoting::quoted && c == '\'') {
      take();
      continue;
    }
    if (quoting == Quoting::quoted && c == '$') {  // an expansion within it is quoted, too
      take();
      dollar(inner, quoting);
      continue;
    }
    if (c == '<' || c == '>') {
      if (peek(1) == '(') doubt("${…} contains <( or >(");
      take();
      continue;
    }
    if (std::string_view(" \t\n;&|()").find(c) != kNpos.npos)
      take();
    else
      word_piece(inner);
  }
  fail("syntax error: ${ is not closed");
  return true;
}

// At `[`. Bash evaluates a subscript that is not a number, which can run commands. Returns whether
// it is or may be [@].
bool Reader::subscript(const std::string& of) {
  take();
  const std::size_t begin = position_;
  const std::size_t close = text_.substr(0, end_).find(']', begin);
  if (close != std::string_view::npos && plain_subscript(text_.substr(begin, close - begin))) {
    position_ = close + 1;
    return text_.substr(begin, close - begin) == "@";
  }
  evaluates(of);
  arithmetic("]");
  return true;  // it may be @ after expansion
}

// After `(`.
void Reader::command_substitution() {
  if (!enter()) return;
  // After $((, <(( and >((, bash first parses up to the end as if it were arithmetic.
  if (peek() == '(') doubt("(( here may be arithmetic or commands; write ( ( instead");
  if (!pending_.empty()) doubt("a command substitution is between a here-document and its content");
  const std::size_t begin = position_;
  if (substitutions_++ == 0) here_read_ = false;
  list(Stop::parenthesis);
  --substitutions_;
  if (!take_if(")")) fail("syntax error: a parenthesis is not closed");
  if (!pending_.empty() && text_.substr(begin, position_ - begin).find("<<") != kNpos.npos)
    doubt("a here-document in a command substitution does not end there");
  leave();
}

// After the backtick: parses up to the next unescaped backtick as a text of its own.
void Reader::backticks(Quoting quoting) {
  std::string inner;
  while (position_ < end_ && text_[position_] != '`') {
    char c = text_[position_++];
    if (c == '\\' && position_ < end_) {
      const char next = text_[position_];
      const bool escapes =
          next == '$' || next == '`' || next == '\\' || (next == '"' && quoting == Quoting::quoted);
      if (escapes) c = next;
      if (escapes) ++position_;
    }
    inner += c;
  }
  if (position_ >= end_) return fail("syntax error: a backtick is not closed");
  ++position_;
  if (!pending_.empty()) doubt("a command substitution is between a here-document and its content");
  if (inner.contains("\\\n")) doubt("backticks contain a backslash before a line break");
  // bash expands braces before it finds the command, and takes these quotes for the end of the
  // word's.
  if (quoting == Quoting::quoted && inner.contains('"'))
    doubt("backticks in double quotes contain a double quote; write $(…) instead");
  if (!enter()) return;
  Reader(inner, reading_).run();
  if (reading_.script.over_limit) refuse(*reading_.script.over_limit);
  leave();
}

// Whether the text after the first `(` is arithmetic: it has only characters of expressions, and
// both parentheses close together. Anything else may be a subshell in a substitution.
bool Reader::is_arithmetic(std::string_view closing) {
  constexpr std::string_view kOther = " \t+-*/%<>=!&|^~?:,_$\"#{}[]";
  std::size_t open = 0;
  for (std::size_t at = position_ + 1; at < end_; ++at) {
    const char c = text_[at];
    if (c == ')' && open == 0) return text_.substr(at, 2) == closing;
    if (c == '(') ++open;
    if (c == ')') --open;
    const bool letter = is_name_start(c) || is_digit(c);
    if (!letter && c != '(' && c != ')' && kOther.find(c) == kNpos.npos) return false;
  }
  return false;
}

// Parses arithmetic up to `closing`. Bash expands the text, evaluates it, and evaluates the values
// of its variables again; a subscript in such a value can run a command. Returns whether the result
// may be negative.
bool Reader::arithmetic(std::string_view closing) {
  std::size_t open = 0;
  std::size_t digits = 0;
  bool small = true;  // only sums and products of few digits, which cannot overflow
  char before = '\0';
  while (!at_end()) {
    if (open == 0 && take_if(closing)) return !small || digits > kSmallDigits;
    const char c = peek();
    if (is_name_start(c)) {
      small = false;
      arithmetic_name();
    } else if (is_digit(c)) {
      for (; is_digit(peek()) || is_name_start(peek()); ++digits)
        small = is_digit(take()) && small;  // 0x1f, 36#z
      joined_in_arithmetic();
    } else if (c == '$' || c == '`' || c == '"') {
      small = false;
      arithmetic_expansion();
    } else {
      if (c == '\'' || c == '\\') doubt("arithmetic with quotes is not analysed");
      if (c == '[' || c == ']') doubt("arithmetic with subscripts may run commands");
      if (c == '(' || c == '{') ++open;
      if ((c == ')' || c == '}') && open > 0) --open;
      const bool sums = std::string_view(" \t+*/%()").find(c) != kNpos.npos;
      small = small && sums && !(c == '*' && before == '*');
      take();
    }
    before = c;
  }
  fail("syntax error: arithmetic is not closed");
  return true;
}

// Records a variable whose value is evaluated as arithmetic.
void Reader::evaluates(std::string name) {
  if (!reading_.assigned.contains(name)) reading_.script.early_names.insert(name);
  reading_.script.arithmetic_names.insert(std::move(name));
}

void Reader::arithmetic_name() {
  std::string of = name();
  joined_in_arithmetic();
  std::size_t at = 0;
  while (at < kBlanksAhead && (peek(at) == ' ' || peek(at) == '\t')) ++at;
  const char sign = peek(at), next = peek(at + 1);
  const bool changes = (sign == '=' && next != '=') ||
                       ((sign == '+' || sign == '-') && next == sign) ||
                       (std::string_view("+-*/%&|^<>").find(sign) != kNpos.npos && sign != '\0' &&
                        (next == '=' || peek(at + 2) == '='));
  if (changes) reading_.script.counted_names.insert(of);
  evaluates(std::move(of));
}

// After a name or number: an expansion that follows directly would become part of it.
void Reader::joined_in_arithmetic() {
  if (std::string_view("$`\"'\\").find(peek()) != kNpos.npos && !at_end())
    doubt("a name in arithmetic is composed of several parts");
}

// $x, "$x", $(…) in arithmetic: the value becomes part of the expression.
void Reader::arithmetic_expansion() {
  const bool quoted = take_if("\"");
  if (quoted && peek() != '$') return doubt("arithmetic with quotes is not analysed");
  Word part;
  word_piece(part);
  if (quoted && !take_if("\"")) return doubt("arithmetic with quotes is not analysed");
  if (quoted && (peek() == '"' || is_name_start(peek()) || is_digit(peek())))
    doubt("a name in arithmetic is composed of several parts");
  for (const Piece& piece : part.pieces) {
    if (piece.kind == Piece::Kind::variable)
      evaluates(piece.text);
    else if (piece.kind != Piece::Kind::number)
      doubt("arithmetic with a value known only at run time may run commands");
  }
}

// The body of an unquoted here-document: expansions apply, quotes do not.
void Reader::expand_here_body(std::string body) {
  if (!enter()) return;
  Reader inner(body, reading_);
  Word parts;
  while (!inner.at_end()) {
    const char c = inner.take();
    if (c == '\\' && inner.position_ < inner.end_)
      ++inner.position_;
    else if (c == '$' && inner.peek() != '\'' && inner.peek() != '"')
      inner.dollar(parts, Quoting::quoted);
    else if (c == '`')
      inner.backticks(Quoting::none);
  }
  if (reading_.script.over_limit) refuse(*reading_.script.over_limit);
  leave();
}

}  // namespace agentrt::policy::shell
