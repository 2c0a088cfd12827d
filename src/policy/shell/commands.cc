// Lists, pipelines and simple commands.
#include "policy/shell/reader.h"

#include <algorithm>

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kNpos = {};
constexpr std::size_t kNameAhead = 64;  // longer names are not recognised as assignments here

bool ends_word(char c) {
  return c == '\0' || std::string_view(" \t\n;&|<>()").find(c) != kNpos.npos;
}

bool is_name(char c) {
  return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || (c >= '0' && c <= '9');
}

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t space = std::min(words.find(' ', at), words.size());
    if (words.substr(at, space - at) == word) return true;
    at = space + 1;
  }
  return false;
}

}  // namespace

void Reader::run() {
  reading_.bytes += text_.size();
  if (reading_.bytes > kReadBytesMax) return refuse("the nested commands are too long");
  while (!reading_.script.over_limit) {
    list(Stop::end);
    if (position_ >= text_.size()) break;
    if (end_ == text_.size()) fail("syntax error: unexpected word or operator");
    // Go on at the next line or `;`: what stands there may be denied.
    end_ = text_.size();
    pending_.clear();
    position_ = std::min(text_.find_first_of(";\n", position_), text_.size() - 1) + 1;
  }
}

// --- lists ---

bool Reader::at_stop(Stop stop, std::string_view words) {
  switch (stop) {
    case Stop::end:
      return at_end();
    case Stop::parenthesis:
      return at_end() || peek() == ')';
    case Stop::case_end:
      return at_end() || looking_at(";;") || looking_at(";&") || keyword_ahead() == "esac";
    case Stop::words:
      return at_end() || has_word(words, keyword_ahead());
  }
  return true;
}

void Reader::list(Stop stop, std::string_view words) {
  if (!enter()) return;
  const bool outermost = reading_.depth == 1 && substitutions_ == 0;
  bool straight = outermost;  // the next pipeline runs unconditionally
  bool begins = outermost;    // it is the first of its line
  for (skip_blanks_and_newlines(); !at_stop(stop, words); skip_blanks_and_newlines()) {
    const std::size_t before = position_;
    const std::size_t commands = reading_.script.commands.size();
    const bool assigns = straight && assignment_ahead();
    pipeline();
    skip_blanks();
    if (assigns) assigned_by(commands, begins);
    straight = outermost && !looking_at("&&") && !looking_at("||");
    begins = straight && peek() == '\n';
    if (at_stop(stop, words)) break;
    if (!separator()) {
      fail("syntax error: unexpected operator");
      break;
    }
    if (position_ == before) break;
  }
  leave();
}

bool Reader::assignment_ahead() {
  std::size_t at = 0;
  while (at < kNameAhead && is_name(peek(at))) ++at;
  return at > 0 && peek(at) == '=';
}

// Records the variables that a pipeline has set, if it is only an assignment. An expansion that
// fails, such as $((1/0)), and an assignment to a read-only variable discard the rest of their
// line, and bash continues with the next one. So only the first assignment of a line is certain for
// later lines, and only if its value cannot fail.
void Reader::assigned_by(std::size_t first, bool begins_line) {
  const auto& commands = reading_.script.commands;
  const bool background = peek() == '&' && peek(1) != '&';
  if (commands.size() != first + 1 || !commands[first].words.empty() || background) return;
  bool certain = begins_line;
  for (const Assignment& given : commands[first].assignments) {
    certain = certain && std::ranges::all_of(given.value.pieces, [](const Piece& piece) {
                return piece.kind == Piece::Kind::text || piece.kind == Piece::Kind::variable;
              });
    const bool fresh = reading_.assigned.insert(given.name).second;
    if (fresh && !certain) reading_.of_line.insert(given.name);
    if (!fresh && certain) reading_.of_line.erase(given.name);
    certain = false;
  }
}

bool Reader::separator() {
  if (peek() == '\n') {
    newline();
    joint("\n");
    return true;
  }
  if (looking_at(";;") || looking_at(";&")) return false;
  return take_joint("&&") || take_joint("||") || take_joint(";") || take_joint("&");
}

bool Reader::take_joint(std::string_view sign) {
  if (!take_if(sign)) return false;
  joint(sign);
  return true;
}

void Reader::newline() {
  take();
  read_here_bodies();
  if (reading_.depth > 1) return;  // within a command of several lines
  for (const std::string& name : reading_.of_line) reading_.assigned.erase(name);
  reading_.of_line.clear();
}

// --- pipelines ---

void Reader::pipeline() {
  while (!at_end()) {
    skip_blanks();
    while (peek() == '!' && word_ends(1)) {
      take_joint("!");
      skip_blanks();
    }
    if (keyword_ahead() == "time") {
      only_bash();
      expect_keyword("time");
      skip_blanks();
      const bool posix = looking_at("-p") && word_ends(2) && take_if("-p");
      joint(posix ? "time -p" : "time");
      skip_blanks();
      // Within a substitution bash then takes the first `)` of a pattern for the end.
      if (keyword_ahead() == "case") doubt("case after time is not supported");
      if (ends_word(peek()) && peek() != '(' && peek() != '<' && peek() != '>') return;
      continue;
    }
    command();
    skip_blanks();
    if (looking_at("||") || peek() != '|') return;
    if (looking_at("|&")) only_bash();
    if (!take_joint("|&")) take_joint("|");
    skip_blanks_and_newlines();
    if (ends_word(peek()) && peek() != '(' && peek() != '<' && peek() != '>')
      return fail("syntax error: nothing follows a pipe");
  }
}

// The unquoted word at this position, without consuming it.
std::string Reader::keyword_ahead() {
  std::string out;
  std::size_t i = 0;
  for (; !ends_word(peek(i)) && i < 16; ++i) out += peek(i);
  // In `case<(…)`, the substitution is a part of the word, which is no keyword therefore.
  if (!word_ends(i)) out += peek(i);
  return out;
}

bool Reader::word_ends(std::size_t ahead) {
  const char c = peek(ahead);
  return ends_word(c) && !((c == '<' || c == '>') && peek(ahead + 1) == '(');
}

void Reader::expect_keyword(std::string_view keyword) {
  skip_blanks_and_newlines();
  if (keyword_ahead() != keyword) return fail("a " + std::string(keyword) + " is missing");
  take_if(keyword);
}

void Reader::command() {
  if (!enter()) return;
  const std::size_t before = position_;
  const std::string keyword = keyword_ahead();
  if (looking_at("((")) {
    reading_.script.compound = true;
    double_parentheses();
  } else if (peek() == '(') {
    subshell();
  } else if (!compound(keyword)) {
    simple();
  } else {
    if (keyword != "{") reading_.script.compound = true;
    if (position_ == before && !at_end()) fail("syntax error: unexpected word");
  }
  leave();
}

bool Reader::compound(const std::string& keyword) {
  if (keyword == "if")
    if_clause();
  else if (keyword == "while" || keyword == "until")
    loop(keyword);
  else if (keyword == "for" || keyword == "select")
    for_clause(keyword);
  else if (keyword == "case")
    case_clause();
  else if (keyword == "{")
    group();
  else if (keyword == "[[")
    double_brackets();
  else if (keyword == "function")
    function_keyword();
  else if (keyword == "coproc")
    coproc();
  else if (has_word("then else elif fi do done esac in }", keyword) && !keyword.empty())
    fail("the word " + keyword + " is where bash expects a command");
  else
    return false;
  return true;
}

// --- simple commands ---

void Reader::simple() {
  SimpleCommand out;
  // Bash prints and re-parses a substitution, and loses separators after a here-document.
  if (substitutions_ > 0 && (!pending_.empty() || here_read_))
    doubt("a command follows a here-document in a command substitution");
  while (!at_end()) {
    skip_blanks();
    if (redirection(out.redirections)) continue;
    if (!at_word()) break;
    if (out.words.empty())
      if (auto given = assignment()) {
        out.assignments.push_back(std::move(*given));
        continue;
      }
    if (!out.words.empty() && array_argument(out)) continue;
    out.words.push_back(word());
    if (out.words.size() > kWordsMax) return refuse("a command has too many words");
    const std::string& source = out.words.back().source;
    if ((peek() == '<' || peek() == '>') && source.starts_with('{') && source.contains('['))
      doubt("a redirection to {name[…]} evaluates the subscript");
    if (out.words.size() == 1 && function_after(out)) return;
  }
  if (peek() == '(') fail("syntax error: unexpected parenthesis");
  for (Assignment& given : out.assignments) given.exported = !out.words.empty();
  auto& commands = reading_.script.commands;
  if (commands.size() >= kCommandsMax)
    return refuse("the command has more than " + std::to_string(kCommandsMax) + " simple commands");
  for (PendingHere& here : pending_)
    if (!here.command) here.command = commands.size();
  reading_.script.joints.push_back({{}, commands.size()});
  commands.push_back(std::move(out));
}

// Parses `name ()`, a function definition. False: it is none.
bool Reader::function_after(const SimpleCommand& begun) {
  const std::size_t before = position_;
  skip_blanks();
  if (peek() != '(' || !begun.assignments.empty() || !begun.redirections.empty()) {
    position_ = before;
    return false;
  }
  take();
  skip_blanks();
  if (!take_if(")")) {
    fail("syntax error: unexpected parenthesis");
    return true;
  }
  reading_.script.compound = true;
  function_body();
  return true;
}

// Parses name=value, name+=value or name[index]=value. nullopt: none; nothing is consumed.
std::optional<Assignment> Reader::assignment() {
  const std::size_t before = position_;
  Assignment out{.name = name(), .value = {}, .exported = false};
  if (out.name.empty()) return std::nullopt;
  const bool indexed = peek() == '[';
  if (indexed) {
    // It is an assignment only if `]=` follows; a pattern such as a[bc] is a word.
    const std::size_t close = text_.substr(0, end_).find(']', position_);
    const std::size_t after = close == kNpos.npos ? end_ : close + 1;
    const std::string_view rest = text_.substr(after, end_ - after);
    const std::size_t stop = text_.substr(0, end_).find_first_of(" \t\n;&|<>()", position_);
    if (stop < close || !(rest.starts_with("=") || rest.starts_with("+="))) {
      if (stop < close || close == kNpos.npos) doubt("a word with [ may be an assignment");
      position_ = before;
      return std::nullopt;
    }
    only_bash();
    reading_.script.array_names.insert(out.name);
    subscript(out.name);
  }
  if (looking_at("+=")) only_bash();
  const bool replaces = take_if("=");
  if (!replaces && !take_if("+=")) {
    position_ = before;
    return std::nullopt;
  }
  if (peek() == '(') {
    array_values(out.name);
    return out;
  }
  out.plain = replaces && !indexed;
  out.value = word();
  return out;
}

// Parses name=( … ) among the arguments, as in declare -a x=( … ).
bool Reader::array_argument(const SimpleCommand& begun) {
  const std::string& program = begun.words.front().source;
  if (!has_word("declare typeset local export readonly eval", program)) return false;
  const std::size_t before = position_;
  const std::string of = name();
  if (!of.empty() && (take_if("=(") || take_if("+=("))) {
    doubt("an array among the arguments of " + program);
    --position_;
    array_values(of);
    return true;
  }
  position_ = before;
  return false;
}

// Parses the words of an array, at `(`.
void Reader::array_values(const std::string& of) {
  only_bash();
  reading_.script.unsure_names.insert(of);
  reading_.script.array_names.insert(of);
  take();
  const std::size_t begin = position_;
  for (skip_blanks_and_newlines(); !at_end() && peek() != ')'; skip_blanks_and_newlines()) {
    if (peek() == '[') doubt("an array with subscripts may run commands");
    if (!at_word()) return fail("syntax error: unexpected operator in an array");
    word();
  }
  // Bash prints and re-parses a substitution, and loses these backslashes.
  if (substitutions_ > 0 && text_.substr(begin, position_ - begin).contains('\\'))
    doubt("an array in a command substitution contains a backslash");
  if (!take_if(")")) fail("syntax error: an array is not closed");
}

}  // namespace agentrt::policy::shell
