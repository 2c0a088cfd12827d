// Parses characters and words.
#include "policy/shell/reader.h"

#include <algorithm>
#include <cstdint>

namespace agentrt::policy::shell {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? true : c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }
bool ends_word(char c) {
  return c == '\0' || std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Whether bash may expand it to several words where another shell has one.
bool has_braces(const Word& word) {
  return std::ranges::any_of(word.pieces, [](const Piece& piece) {
    return piece.kind == Piece::Kind::text && piece.quoting == Quoting::none &&
           piece.text.contains('{') && piece.text != "{}";
  });
}

// Decodes the escapes of $'…' as bash does. A NUL character ends the value.
class AnsiText {
 public:
  explicit AnsiText(std::string_view text) : text_(text) {}

  // nullopt: the value depends on the locale.
  std::optional<std::string> decoded() {
    while (at_ < text_.size() && !ended_ && known_) {
      const char c = text_[at_++];
      if (c == '\\' && at_ < text_.size())
        escape(text_[at_++]);
      else
        value_ += c;
    }
    return known_ ? std::optional(std::move(value_)) : std::nullopt;
  }

 private:
  void escape(char letter) {
    constexpr std::string_view kLetters = "abefnrtv\\'\"?E";
    constexpr std::string_view kValues = "\a\b\x1b\f\n\r\t\v\\'\"?\x1b";
    if (const auto at = kLetters.find(letter); at != std::string_view::npos) {
      value_ += kValues[at];
    } else if (letter >= '0' && letter <= '7') {
      --at_;
      byte(digits(8, 3));
    } else if (letter == 'x') {
      const bool braces = at_ < text_.size() && text_[at_] == '{';
      if (braces) ++at_;
      number_after('x', braces ? text_.size() : 2, Encoding::byte, braces);
      if (braces && at_ < text_.size() && text_[at_] == '}') ++at_;
    } else if (letter == 'u' || letter == 'U') {
      number_after(letter, letter == 'u' ? 4 : 8, Encoding::code_point, false);
    } else if (letter == 'c' && at_ < text_.size()) {
      control(text_[at_++]);
    } else {
      value_ += {'\\', letter};
    }
  }

  enum class Encoding { byte, code_point };

  void number_after(char letter, std::size_t most, Encoding encoding, bool may_be_empty) {
    const std::size_t before = at_;
    const std::uint32_t number = digits(16, most);
    if (at_ == before && !may_be_empty)
      value_ += {'\\', letter};
    else if (encoding == Encoding::code_point && number >= 0x80)
      known_ = false;  // the locale decides which bytes it becomes
    else
      byte(number);
  }

  std::uint32_t digits(int base, std::size_t most) {
    std::uint32_t number = 0;
    for (; most > 0 && at_ < text_.size(); --most, ++at_) {
      const int digit = hex_digit(text_[at_]);
      if (digit < 0 || digit >= base) break;
      number = number * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
    }
    return number;
  }

  void byte(std::uint32_t number) {
    ended_ = (number & 0xFF) == 0;
    if (!ended_) value_ += static_cast<char>(number & 0xFF);
  }

  void control(char c) {
    if (c == '\\' && at_ < text_.size() && text_[at_] == c) ++at_;
    if (c == '?') return byte(0x7F);
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c & ~0x20);
    byte(static_cast<std::uint32_t>(c) & 0x1F);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string value_;
  bool known_ = true;
  bool ended_ = false;
};

}  // namespace

// --- characters ---

char Reader::peek(std::size_t ahead) {
  // Joined lines are skipped permanently, so that a long run of them is scanned once.
  while (position_ + 1 < end_ && text_[position_] == '\\' && text_[position_ + 1] == '\n')
    position_ += 2;
  std::size_t at = position_;
  while (true) {
    while (at + 1 < end_ && text_[at] == '\\' && text_[at + 1] == '\n') at += 2;
    if (at >= end_) return '\0';
    if (ahead == 0) return text_[at];
    --ahead;
    ++at;
  }
}

char Reader::take() {
  const char c = peek();
  if (c != '\0') ++position_;
  return c;
}

bool Reader::looking_at(std::string_view what) {
  for (std::size_t i = 0; i < what.size(); ++i)
    if (peek(i) != what[i]) return false;
  return true;
}

bool Reader::take_if(std::string_view what) {
  if (!looking_at(what)) return false;
  for (std::size_t i = 0; i < what.size(); ++i) take();
  return true;
}

void Reader::skip_blanks() {
  while (peek() == ' ' || peek() == '\t') take();
  if (peek() != '#') return;
  // A comment ends at the newline, even after a backslash.
  while (position_ < end_ && text_[position_] != '\n') ++position_;
}

void Reader::skip_blanks_and_newlines() {
  for (skip_blanks(); peek() == '\n'; skip_blanks()) newline();
}

void Reader::doubt(std::string reason) {
  auto& doubts = reading_.script.doubts;
  if (doubts.size() < kDoubtsMax && std::ranges::find(doubts, reason) == doubts.end())
    doubts.push_back(std::move(reason));
}

void Reader::fail(std::string reason) {
  if (position_ >= end_ && end_ < text_.size()) return;  // it has already failed
  doubt(std::move(reason));
  end_ = position_;
}

void Reader::refuse(std::string limit) {
  if (!reading_.script.over_limit) reading_.script.over_limit = std::move(limit);
  end_ = position_;
}

bool Reader::enter() {
  ++reading_.depth;
  if (reading_.depth > kDepthMax) refuse("the text is nested too deeply");
  return reading_.depth <= kDepthMax;
}

// --- words ---

bool Reader::at_word() {
  if (!ends_word(peek())) return true;
  return (peek() == '<' || peek() == '>') && peek(1) == '(';
}

void Reader::add(Word& out, Piece::Kind kind, std::string text, Quoting quoting) {
  out.pieces.push_back({kind, std::move(text), quoting});
}

void Reader::add_text(Word& out, char c, Quoting quoting) {
  if (out.pieces.empty() || out.pieces.back().kind != Piece::Kind::text ||
      out.pieces.back().quoting != quoting)
    add(out, Piece::Kind::text, {}, quoting);
  out.pieces.back().text += c;
}

Word Reader::word() {
  Word out;
  peek();
  const std::size_t begin = position_;
  while (at_word()) word_piece(out);
  out.source = std::string(text_.substr(begin, position_ - begin));
  if (has_braces(out)) only_bash();
  if (!pending_.empty() && out.source.find('\n') != std::string::npos)
    doubt("a word continues over lines between a here-document and its text");
  return out;
}

void Reader::word_piece(Word& out) {
  const char c = take();
  if (c == '\'') return single_quotes(out);
  if (c == '"') return double_quotes(out);
  if (c == '`') {
    backticks(Quoting::none);
    return add(out, Piece::Kind::computed, {}, Quoting::none);
  }
  if (c == '$') return dollar(out, Quoting::none);
  if (c == '<' || c == '>') {
    only_bash();
    take();
    command_substitution();
    return add(out, Piece::Kind::path, {}, Quoting::none);
  }
  if (c != '\\') return add_text(out, c, Quoting::none);
  if (position_ < end_) return add_text(out, text_[position_++], Quoting::quoted);
  doubt("bash keeps a backslash at the end of one line and drops it after several");
}

void Reader::single_quotes(Word& out) {
  const std::size_t close = text_.substr(0, end_).find('\'', position_);
  if (close == std::string_view::npos) return fail("a single quote is not closed");
  add(out, Piece::Kind::text, std::string(text_.substr(position_, close - position_)),
      Quoting::quoted);
  position_ = close + 1;
}

void Reader::double_quotes(Word& out) {
  add(out, Piece::Kind::text, {}, Quoting::quoted);  // "" is a word
  ++open_quotes_;
  while (!at_end()) {
    const char c = take();
    if (c == '"') {
      --open_quotes_;
      return;
    }
    if (c == '`') {
      backticks(Quoting::quoted);
      add(out, Piece::Kind::computed, {}, Quoting::quoted);
    } else if (c == '$') {
      dollar(out, Quoting::quoted);
    } else if (c == '\\' && position_ < end_) {
      const char escaped = text_[position_++];
      if (std::string_view("$`\"\\").find(escaped) == std::string_view::npos)
        add_text(out, '\\', Quoting::quoted);
      add_text(out, escaped, Quoting::quoted);
    } else {
      add_text(out, c, Quoting::quoted);
    }
  }
  --open_quotes_;
  fail("a double quote is not closed");
}

// Parses and decodes $'…', up to the next unescaped quote.
void Reader::ansi_quotes(Word& out) {
  only_bash();
  const std::size_t begin = position_;
  while (position_ < end_ && text_[position_] != '\'')
    position_ += text_[position_] == '\\' && position_ + 1 < end_ ? 2 : 1;
  if (position_ >= end_) return fail("a $' quote is not closed");
  auto value = AnsiText(text_.substr(begin, position_ - begin)).decoded();
  ++position_;
  add(out, value ? Piece::Kind::text : Piece::Kind::computed, value ? std::move(*value) : "",
      Quoting::quoted);
}

std::vector<Word> Reader::only_words() {
  std::vector<Word> out;
  for (skip_blanks(); at_word(); skip_blanks()) out.push_back(word());
  return out;
}

std::string Reader::name() {
  std::string out;
  if (!is_name_start(peek())) return out;
  while (is_name(peek())) out += take();
  return out;
}

// The right side of =~ and == in [[ ]], where parentheses and bars belong to the pattern.
Word Reader::regex_word() {
  Word out;
  const std::size_t begin = position_;
  std::size_t open = 0;
  while (!at_end()) {
    const char c = peek();
    if (c == '\n' || ((c == ' ' || c == '\t') && open == 0)) break;
    if (c == ')' && open == 0) break;
    if (c == ';' || c == '&' || c == '<' || c == '>' || c == '#')
      doubt("a pattern within [[ ]] has characters that may end it");
    // Within parentheses, bash only counts parentheses and does not parse commands. In a quoted
    // command substitution, it also decodes $'…' without quoting the result.
    if (open > 0 && c == '$' && (peek(1) == '(' || peek(1) == '{' || peek(1) == '\''))
      doubt("a pattern within [[ ]] has $(…), ${…} or $'…' in parentheses");
    if (c == '(' || c == ')') open = c == '(' ? open + 1 : open - 1;
    if (ends_word(c))
      add_text(out, take(), Quoting::none);
    else
      word_piece(out);
  }
  if (open > 0) doubt("a pattern within [[ ]] has parentheses that are not closed");
  out.source = std::string(text_.substr(begin, position_ - begin));
  return out;
}

}  // namespace agentrt::policy::shell
