// What follows a dollar sign or a backtick, and the bodies of here-documents.
#include "policy/shell/reader.h"

#include <algorithm>

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kNpos = {};

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
    take();
    return double_quotes(out);
  }
  if (c == '(') {
    take();
    if (peek() == '(' && is_arithmetic("))")) {
      take();
      arithmetic("))");
      return add(out, Piece::Kind::number, {}, quoting);
    }
    if (peek() == '(') doubt("$(( here may be arithmetic or commands");
    command_substitution();
    return add(out, Piece::Kind::computed, {}, quoting);
  }
  if (c == '[') {
    take();
    arithmetic("]");
    return add(out, Piece::Kind::number, {}, quoting);
  }
  if (c == '{') {
    take();
    return braced(out, quoting);
  }
  if (is_name_start(c)) return add(out, Piece::Kind::variable, name(), quoting);
  if (c == '?' || c == '#' || c == '$' || c == '!') {
    take();
    return add(out, Piece::Kind::number, {}, quoting);
  }
  if (is_digit(c) || c == '@' || c == '*' || c == '-')
    return add(out, Piece::Kind::computed, std::string(1, take()), quoting);
  add_text(out, '$', quoting);
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
    if (!take_if("}")) fail("a ${ is not read to its end");
    add(out, Piece::Kind::number, {}, quoting);
  } else if (peek() == '!') {
    doubt("${!…} takes its name from a variable");
    take();
    braced_word(quoting, "}");
    add(out, Piece::Kind::computed, {}, quoting);
  } else {
    std::string of = name();
    if (of.empty() && (is_digit(peek()) || std::string_view("@*?$-").find(peek()) != kNpos.npos))
      for (of += take(); is_digit(peek());) of += take();
    if (of.empty()) fail("a ${ is not followed by a name");
    braced_rest(of, quoting, out);
  }
  leave();
}

// After the name: its subscript, an operator, and the word that the operator takes.
void Reader::braced_rest(const std::string& of, Quoting quoting, Word& out) {
  bool plain = is_name_start(of[0]);
  if (peek() == '[') {
    subscript(of);
    plain = false;
  }
  if (take_if("}"))
    return add(out, plain ? Piece::Kind::variable : Piece::Kind::computed, of, quoting);
  const char operation = take();
  if (operation == '@') {
    if (std::string_view("QUuLAaKk").find(peek()) == kNpos.npos)
      doubt("${…@P} runs what stands in a variable");
    take();
    if (!take_if("}")) fail("a ${ is not read to its end");
    return add(out, Piece::Kind::computed, {}, quoting);
  }
  if (std::string_view(":-=?+#%/^,").find(operation) == kNpos.npos)
    return fail("a ${ has an operator that is not known");
  const char next = peek();
  const bool slice = operation == ':' && std::string_view("-=?+").find(next) == kNpos.npos;
  if (slice) {
    arithmetic("}");
  } else {
    if (operation == '=' || (operation == ':' && next == '=')) {
      reading_.script.unsure_names.insert(of);
      doubt("${…=…} sets a variable");
    }
    braced_word(quoting, "}");
  }
  add(out, Piece::Kind::computed, {}, quoting);
}

// A word up to `until`, in which the quotes of its surroundings count.
void Reader::braced_word(Quoting quoting, std::string_view until) {
  Word inner;
  while (!at_end()) {
    if (take_if(until)) return;
    const char c = peek();
    if (quoting == Quoting::quoted && (c == '\'' || c == '"'))
      doubt("quotes within ${…} within quotes are read in different ways");
    if (quoting == Quoting::quoted && c == '\'') {
      take();
      continue;
    }
    if (c == '<' || c == '>') {
      if (peek(1) == '(') doubt("a ${ holds <( or >(");
      take();
      continue;
    }
    if (std::string_view(" \t\n;&|()").find(c) != kNpos.npos)
      take();
    else
      word_piece(inner);
  }
  fail("a ${ is not closed");
}

// At `[`. What is not a number is evaluated by bash, and that can run commands.
void Reader::subscript(const std::string& of) {
  take();
  const std::size_t begin = position_;
  const std::size_t close = text_.substr(0, end_).find(']', begin);
  if (close != std::string_view::npos && plain_subscript(text_.substr(begin, close - begin))) {
    position_ = close + 1;
    return;
  }
  reading_.script.arithmetic_names.insert(of);
  arithmetic("]");
}

// After `(`.
void Reader::command_substitution() {
  if (!enter()) return;
  if (!pending_.empty()) doubt("a substitution stands between a here-document and its text");
  const std::size_t begin = position_;
  if (substitutions_++ == 0) here_read_ = false;
  list(Stop::parenthesis);
  --substitutions_;
  if (!take_if(")")) fail("a parenthesis is not closed");
  if (!pending_.empty() && text_.substr(begin, position_ - begin).find("<<") != kNpos.npos)
    doubt("a here-document in a substitution does not end in it");
  leave();
}

// After the backtick: up to the next one that is not escaped, read as a text of its own.
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
  if (position_ >= end_) return fail("a backtick is not closed");
  ++position_;
  if (!pending_.empty()) doubt("a substitution stands between a here-document and its text");
  if (inner.contains("\\\n")) doubt("backticks with a backslash before a newline");
  if (!enter()) return;
  Reader(inner, reading_).run();
  if (reading_.script.over_limit) refuse(*reading_.script.over_limit);
  leave();
}

// Whether what follows the first `(` is arithmetic: it has only characters of expressions, and both
// parentheses close together. Anything else may be a subshell in a substitution.
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

// Up to `closing`. Bash expands the text, then evaluates it, and the values of the variables that
// it names are evaluated again: a subscript in one of them can run a command.
void Reader::arithmetic(std::string_view closing) {
  std::size_t open = 0;
  while (!at_end()) {
    if (open == 0 && take_if(closing)) return;
    const char c = peek();
    if (is_name_start(c)) {
      reading_.script.arithmetic_names.insert(name());
    } else if (is_digit(c)) {
      while (is_digit(peek()) || is_name_start(peek())) take();  // 0x1f, 36#z
    } else if (c == '$' || c == '`') {
      Word part;
      word_piece(part);
      for (const Piece& piece : part.pieces) {
        if (piece.kind == Piece::Kind::variable)
          reading_.script.arithmetic_names.insert(piece.text);
        else if (piece.kind != Piece::Kind::number)
          doubt("arithmetic over text that is computed can run commands");
      }
    } else {
      if (c == '\'' || c == '\\') doubt("arithmetic with quotes is not read");
      if (c == '[' || c == ']') doubt("arithmetic with subscripts can run commands");
      if (c == '(' || c == '{') ++open;
      if ((c == ')' || c == '}') && open > 0) --open;
      take();
    }
  }
  fail("arithmetic is not closed");
}

// The text of an unquoted here-document: expansions count, quotes do not.
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
