// sed and awk: small languages in an argument, read as far as needed to see that a script only
// reads and prints. What is not understood counts as running something.
#include <algorithm>
#include <optional>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {
namespace {

constexpr auto kNone = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }

// Where the bracket expression that opens at `at` closes; kNone when it does not.
std::size_t bracket_end(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i < text.size() && text[i] == '^') ++i;
  if (i < text.size() && text[i] == ']') ++i;
  for (; i < text.size(); ++i) {
    if (text[i] == ']') return i;
    const char kind = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] != '[' || (kind != ':' && kind != '.' && kind != '=')) continue;
    const std::size_t close = text.find(std::string{kind, ']'}, i + 2);
    if (close == kNone) return kNone;
    i = close + 1;
  }
  return kNone;
}

// --- sed ---

class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  // Nothing when the script only reads and prints; otherwise what it does.
  std::optional<std::string> offence() {
    while (at_ < text_.size()) {
      skip(" \t\n;{}");
      if (at_ >= text_.size()) break;
      if (peek() == '#') {
        to_line_end();
        continue;
      }
      if (!address()) return "an address is not understood";
      if (auto found = command()) return found;
    }
    return std::nullopt;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip(std::string_view any) {
    while (at_ < text_.size() && any.find(text_[at_]) != kNone) ++at_;
  }
  void to_line_end() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  // Up to the next `mark` that is not escaped. Within brackets a slash is text.
  bool delimited(char mark) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '[' || text_[at_] == '\n')
        return bracketed(mark);
      else if (text_[at_] == mark)
        return ++at_, true;
    }
    return false;
  }

  // sed versions differ on a mark within brackets: such a script is not understood.
  bool bracketed(char mark) {
    if (text_[at_] == '\n') return false;
    const std::size_t close = bracket_end(text_, at_);
    if (close == kNone || text_.substr(at_, close - at_).find(mark) != kNone) return false;
    at_ = close + 1;
    return delimited(mark);
  }

  bool one_address() {
    if (peek() == '/') return ++at_, delimited('/') && flags();
    if (peek() == '\\' && at_ + 1 < text_.size()) {
      const char mark = text_[at_ + 1];
      at_ += 2;
      return delimited(mark) && flags();
    }
    if (peek() == '$') return ++at_, true;
    skip("0123456789~+");
    return true;
  }
  bool flags() {
    skip("IM");
    return true;
  }

  bool address() {
    if (!one_address()) return false;
    skip(" \t");
    if (peek() == ',') {
      ++at_;
      skip(" \t");
      if (!one_address()) return false;
    }
    skip(" \t!");
    return true;
  }

  std::optional<std::string> command() {
    const char c = peek();
    ++at_;
    if (c == '{' || c == '}' || c == '\0') return std::nullopt;
    if (std::string_view("pdDPnNhHgGxlq=QFz").find(c) != kNone) {
      skip(" \t0123456789");
      return ends() ? std::nullopt : std::optional<std::string>("a command is not understood");
    }
    if (std::string_view(":btT").find(c) != kNone) {  // a label ends at a semicolon
      at_ = std::min(text_.find_first_of(";\n}", at_), text_.size());
      return std::nullopt;
    }
    if (std::string_view("aicrR").find(c) != kNone) {
      to_line_end();
      if (text_.contains("\\\n")) return "added text goes over lines";
      return std::nullopt;
    }
    if (c == 's' || c == 'y') return substitute(c);
    if (c == 'w' || c == 'W') return "the command w writes a file";
    if (c == 'e') return "the command e runs a program";
    return "a command is not understood";
  }

  std::optional<std::string> substitute(char kind) {
    const char mark = peek();
    ++at_;
    if (mark == '\\' || mark == '\n' || mark == '\0') return "a command is not understood";
    if (!delimited(mark)) return "a pattern is not understood";
    for (; at_ < text_.size() && text_[at_] != mark; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
    if (kind == 'y') return std::nullopt;
    skip("gpiImM0123456789");
    if (peek() == 'w') return "the flag w writes a file";
    if (peek() == 'e') return "the flag e runs a program";
    return ends() ? std::nullopt : std::optional<std::string>("a flag is not understood");
  }

  bool ends() const {
    return at_ >= text_.size() || std::string_view(" \t\n;}#").find(text_[at_]) != kNone;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void judge_sed(const Arg& script, std::size_t word, Findings& out) {
  if (!script.known) return out.runs(kNoWord, "the script of sed is computed");
  if (const auto found = SedScript(script.text).offence()) out.runs(word, "sed: " + *found);
}

void sed(const Args& args, Findings& out) {
  bool has_script = false;
  std::vector<std::size_t> operands;
  bool options = true;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known) {
      if (arg.option && options) out.runs(i, "a computed word may be an option of sed");
      operands.push_back(i);
      continue;
    }
    if (options && arg.is("--")) {
      options = false;
      continue;
    }
    if (!options || !arg.text.starts_with('-') || arg.is("-")) {
      operands.push_back(i);
      continue;
    }
    if (arg.text.starts_with("--")) {
      const std::string_view name = std::string_view(arg.text).substr(0, arg.text.find('='));
      if (name == "--expression" && arg.text.size() > name.size()) {
        judge_sed(known_arg(arg.text.substr(name.size() + 1)), i, out);
        has_script = true;
      } else if (!one_of(name,
                         "--quiet --silent --regexp-extended --null-data --separate "
                         "--unbuffered --posix --debug --sandbox --version --help")) {
        out.writes(i, "the option " + arg.text + " makes sed do more than print");
      }
      continue;
    }
    const std::size_t letter = arg.text.find_first_not_of("nErszu", 1);
    if (letter == std::string::npos) continue;
    if (arg.text[letter] != 'e') {
      out.writes(i, "the option " + arg.text + " makes sed do more than print");
      has_script = has_script || arg.text[letter] == 'f';
      continue;
    }
    has_script = true;
    if (letter + 1 < arg.text.size())
      judge_sed(known_arg(arg.text.substr(letter + 1)), i, out);
    else if (++i < args.size())
      judge_sed(args[i], i, out);
  }
  if (!has_script && !operands.empty()) judge_sed(args[operands.front()], operands.front(), out);
}

// --- awk ---

// Steps over the text of an awk program and stops at what runs or writes.
class AwkProgram {
 public:
  explicit AwkProgram(std::string_view text) : text_(text) {}

  std::optional<std::string> offence() {
    while (at_ < text_.size()) {
      if (auto found = token()) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> token() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '"') {
      return string();
    } else if (c == '/' && regex_may_begin()) {
      return regex();
    } else if (c == '/' && !division_may_stand()) {
      return "a slash may divide or begin a pattern";
    } else if (is_letter(c)) {
      return word();
    } else if (c == '|') {
      if (text_.substr(at_, 2) != "||") return "a pipe runs a program";
      at_ += 2;
      last_ = '|';
    } else if (c == '@') {
      return "@ calls or loads something by its name";
    } else if (c == '\\' || c == '`') {
      return "a sign is not understood";
    } else {
      if (c == '>' && printing_ && depth_ <= print_depth_) return "a redirection writes a file";
      sign(c);
      ++at_;
    }
    return std::nullopt;
  }

  void sign(char c) {
    if (c == '(' || c == '[') ++depth_;
    if ((c == ')' || c == ']') && depth_ > 0) --depth_;
    if (c == ';' || c == '\n' || c == '}' || c == '{') printing_ = false;
    if (c != ' ' && c != '\t') last_ = c;
  }

  std::optional<std::string> string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') return "a string goes over lines";
    }
    if (at_ >= text_.size()) return "a string is not closed";
    ++at_;
    last_ = '"';
    return std::nullopt;
  }

  bool regex_may_begin() const { return std::string_view("(,{};!~&|?:\n=").find(last_) != kNone; }
  bool division_may_stand() const { return is_letter(last_) || is_digit(last_) || last_ == ']'; }

  std::optional<std::string> regex() {
    for (++at_; at_ < text_.size() && text_[at_] != '/'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '\n')) {
        const std::size_t close = bracket_end(text_, at_);
        const std::string_view inside =
            close == kNone ? std::string_view("/") : text_.substr(at_, close - at_);
        if (text_[at_] == '\n' || inside.contains('/')) return "a pattern is not understood";
        at_ = close;
      }
    }
    if (at_ >= text_.size()) return "a pattern is not closed";
    ++at_;
    last_ = '/';
    return std::nullopt;
  }

  std::optional<std::string> word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool keyword = one_of(name, "print printf return in getline delete exit else do case");
    last_ = keyword ? '(' : 'a';
    if (name == "system") return "system runs a program";
    if (name == "getline" && !text_.contains("<")) return std::nullopt;
    if (name == "print" || name == "printf") {
      printing_ = true;
      print_depth_ = depth_;
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t print_depth_ = 0;
  bool printing_ = false;
  char last_ = ';';
};

void awk(const Args& args, Findings& out) {
  std::size_t i = 1;
  for (; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known) return out.runs(kNoWord, "the program of awk is computed");
    if (arg.is("--version") && args.size() == 2) return;
    if (arg.is("--")) {
      ++i;
      break;
    }
    if (!arg.text.starts_with('-') || arg.is("-")) break;
    if (arg.is("-F") || arg.is("-v")) {
      ++i;
      if (i < args.size() && !args[i].single) return out.runs(kNoWord, "a word of awk is computed");
      continue;
    }
    if (arg.text.starts_with("-F") || arg.text.starts_with("-v")) continue;
    return out.runs(i, "the option " + arg.text + " of awk is not read");
  }
  if (i >= args.size()) return;
  if (!args[i].known) return out.runs(kNoWord, "the program of awk is computed");
  if (args[i].text.contains("/inet")) out.runs(i, "awk: it opens a connection");
  if (const auto found = AwkProgram(args[i].text).offence()) out.runs(i, "awk: " + *found);
}

}  // namespace

bool find_in_editors(std::string_view program, const Args& args, Findings& out) {
  if (program == "sed" || program == "gsed")
    sed(args, out);
  else if (one_of(program, "awk gawk mawk nawk original-awk"))
    awk(args, out);
  else
    return false;
  return true;
}

}  // namespace agentrt::policy::shell
