// Parses groups, loops, conditions and functions.
#include "policy/shell/reader.h"

#include <algorithm>

namespace agentrt::policy::shell {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || is_digit(c); }

// The characters of a word without quotes or expansions, to recognise an operator of [[ ]].
std::string unquoted(const Word& word) {
  std::string out;
  for (const Piece& piece : word.pieces) {
    if (piece.kind != Piece::Kind::text || piece.quoting != Quoting::none) return {};
    out += piece.text;
  }
  return out;
}

bool compares_numbers(std::string_view sign) {
  return sign == "-eq" || sign == "-ne" || sign == "-lt" || sign == "-le" || sign == "-gt" ||
         sign == "-ge";
}

}  // namespace

void Reader::if_clause() {
  expect_keyword("if");
  list(Stop::words, "then");
  expect_keyword("then");
  while (!at_end()) {
    list(Stop::words, "elif else fi");
    if (keyword_ahead() == "fi") break;
    const bool again = keyword_ahead() == "elif";
    expect_keyword(again ? "elif" : "else");
    if (!again) continue;
    list(Stop::words, "then");
    expect_keyword("then");
  }
  expect_keyword("fi");
  trailing_redirections();
}

void Reader::loop(std::string_view keyword) {
  expect_keyword(keyword);
  list(Stop::words, "do");
  expect_keyword("do");
  list(Stop::words, "done");
  expect_keyword("done");
  trailing_redirections();
}

void Reader::for_clause(std::string_view keyword) {
  expect_keyword(keyword);
  skip_blanks();
  if (keyword == "select") only_bash();
  std::string of;
  if (looking_at("((")) {
    only_bash();
    take_if("((");
    for (int part = 0; part < 3 && !at_end(); ++part) arithmetic(part < 2 ? ";" : "))");
    skip_blanks();
    take_if(";");
  } else {
    of = name();
    if (of.empty()) return fail("syntax error: for without a variable name");
    skip_blanks_and_newlines();
    if (keyword_ahead() == "in") {
      expect_keyword("in");
      for (skip_blanks(); at_word(); skip_blanks())
        reading_.script.loops.push_back({.name = of, .value = word(), .exported = false});
    } else {
      reading_.script.unsure_names.insert(of);
    }
    if (keyword == "select") reading_.script.unsure_names.insert(of);
    skip_blanks();
    if (peek() == '\n')
      newline();
    else
      take_if(";");
  }
  expect_keyword("do");
  const bool fresh = !of.empty() && reading_.assigned.insert(of).second;
  list(Stop::words, "done");
  if (fresh) reading_.assigned.erase(of);
  expect_keyword("done");
  trailing_redirections();
}

void Reader::case_clause() {
  expect_keyword("case");
  skip_blanks();
  if (!at_word()) return fail("syntax error: case without a word");
  word();
  expect_keyword("in");
  while (!at_end()) {
    skip_blanks_and_newlines();
    if (keyword_ahead() == "esac") break;
    take_if("(");
    do {
      skip_blanks();
      if (!at_word()) return fail("syntax error: case without a pattern");
      word();
      skip_blanks();
    } while (take_if("|"));
    if (!take_if(")")) return fail("syntax error: a case pattern is not closed");
    list(Stop::case_end);
    skip_blanks_and_newlines();
    if (!take_if(";;&") && !take_if(";;") && !take_if(";&")) break;
  }
  expect_keyword("esac");
  trailing_redirections();
}

void Reader::group() {
  expect_keyword("{");
  joint("{");
  list(Stop::words, "}");
  expect_keyword("}");
  joint("}");
  trailing_redirections();
}

void Reader::subshell() {
  take_joint("(");
  list(Stop::parenthesis);
  if (!take_joint(")")) fail("syntax error: a parenthesis is not closed");
  trailing_redirections();
}

void Reader::double_parentheses() {
  only_bash();
  take();
  if (is_arithmetic("))")) {
    take();
    arithmetic("))");
    return trailing_redirections();
  }
  doubt("(( here may be arithmetic or commands");
  list(Stop::parenthesis);
  if (!take_if(")")) fail("syntax error: a parenthesis is not closed");
  trailing_redirections();
}

// Parses [[ … ]]. Its words are expanded; a numeric comparison evaluates both sides.
void Reader::double_brackets() {
  only_bash();
  take_if("[[");
  Word left;
  while (!at_end()) {
    skip_blanks_and_newlines();
    if (keyword_ahead() == "]]") break;
    const bool substitution = peek(1) == '(' && (peek() == '<' || peek() == '>');
    if (!substitution && (take_if("&&") || take_if("||") || take_if("(") || take_if(")") ||
                          take_if("<") || take_if(">")))
      continue;
    if (!at_word()) return fail("syntax error: unexpected operator in [[");
    Word part = word();
    const std::string sign = unquoted(part);
    if (sign == "=~" || sign == "==" || sign == "=" || sign == "!=") {
      skip_blanks();
      regex_word();
    } else if (sign == "-v" || sign == "-R") {
      skip_blanks();
      evaluated_name(word());
    } else if (compares_numbers(sign)) {
      evaluated(left);
      skip_blanks();
      evaluated(word());
    }
    left = std::move(part);
  }
  if (!take_if("]]")) fail("syntax error: [[ is not closed");
  trailing_redirections();
}

// Handles a word that bash evaluates as arithmetic, including its quoted parts.
void Reader::evaluated(const Word& part) {
  for (std::size_t i = 0; i < part.pieces.size(); ++i) {
    const Piece& piece = part.pieces[i];
    if (piece.kind == Piece::Kind::variable)
      evaluates(piece.text);
    else if (piece.kind == Piece::Kind::text)
      evaluated_text(part, i);
    else if (piece.kind != Piece::Kind::number)
      doubt("a numeric comparison of a value known only at run time may run commands");
  }
}

// Handles the names in a piece of an arithmetic expression. A name at the edge of the piece may
// continue in the next piece.
void Reader::evaluated_text(const Word& part, std::size_t piece) {
  const std::string_view text = part.pieces[piece].text;
  if (text.find_first_of("[]$`\\'\"") != text.npos)
    doubt("a numeric comparison evaluates a value that may run commands");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && is_name(text[at])) ++at;
    const bool number = at > begin && is_digit(text[begin]);
    const bool joined =
        (begin == 0 && piece > 0) || (at == text.size() && piece + 1 < part.pieces.size());
    if (at > begin && joined && !std::ranges::all_of(text.substr(begin, at - begin), is_digit))
      doubt("a name in a numeric comparison is composed of several parts");
    if (at > begin && !number) evaluates(std::string(text.substr(begin, at - begin)));
    if (at == begin) ++at;
  }
}

// Handles a word that bash takes as the name of a variable; a subscript in it is evaluated.
void Reader::evaluated_name(const Word& part) {
  for (const Piece& piece : part.pieces) {
    if (piece.kind == Piece::Kind::variable)
      evaluates(piece.text);
    else if (piece.kind != Piece::Kind::number &&
             !(piece.kind == Piece::Kind::text && piece.text.find('[') == std::string::npos))
      doubt("a name that [[ -v evaluates may run commands");
  }
}

void Reader::function_keyword() {
  only_bash();
  expect_keyword("function");
  skip_blanks();
  if (!at_word()) return fail("syntax error: function without a name");
  word();
  skip_blanks();
  if (take_if("(")) {
    skip_blanks();
    if (!take_if(")")) return fail("syntax error: the parenthesis of a function is not closed");
  }
  function_body();
}

// The commands of the body are listed here; calls of the function are listed as commands too.
void Reader::function_body() {
  skip_blanks_and_newlines();
  const std::string keyword = keyword_ahead();
  if (looking_at("(("))
    double_parentheses();
  else if (peek() == '(')
    subshell();
  else if (keyword.empty() || keyword == "function" || keyword == "coproc" || !compound(keyword))
    fail("syntax error: function without a body");
}

void Reader::coproc() {
  only_bash();
  expect_keyword("coproc");
  skip_blanks();
  const std::size_t before = position_;
  // A name may precede a compound command.
  const std::string of = name();
  skip_blanks();
  const std::string keyword = keyword_ahead();
  if (of.empty() || !(peek() == '(' || keyword == "{" || keyword == "while" || keyword == "if" ||
                      keyword == "for" || keyword == "until" || keyword == "case" ||
                      keyword == "[[" || keyword == "select")) {
    position_ = before;
  } else {
    for (const std::string& made : {of, of + "_PID"}) reading_.script.unsure_names.insert(made);
    reading_.script.array_names.insert(of);
  }
  command();
}

}  // namespace agentrt::policy::shell
