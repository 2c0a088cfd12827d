// sed and awk: parses their scripts far enough to see that a script only reads and prints. A script
// that is not understood counts as running something.
#include <algorithm>
#include <optional>

#include "policy/shell/findings.h"
#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

constexpr auto kNone = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }

// The position where the bracket expression that opens at `at` closes; kNone: it does not.
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

  // What the script does beyond reading and printing; nullopt: nothing.
  std::optional<std::string> offence() {
    while (at_ < text_.size()) {
      skip(" \t\n;{}");
      if (at_ >= text_.size()) break;
      if (peek() == '#') {
        to_line_end();
        continue;
      }
      if (!address()) return "an address cannot be parsed";
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

  // Skips to the next unescaped `mark`. Versions of sed differ on a mark inside brackets, so such a
  // script is not understood.
  bool delimited(char mark) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '\n') {
        return false;
      } else if (text_[at_] == '[') {
        const std::size_t close = bracket_end(text_, at_);
        if (mark == '[' || close == kNone || text_.substr(at_, close - at_).find(mark) != kNone)
          return false;
        at_ = close;
      } else if (text_[at_] == mark) {
        return ++at_, true;
      }
    }
    return false;
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
      return ends() ? std::nullopt : std::optional<std::string>("a command cannot be parsed");
    }
    if (std::string_view(":btT").find(c) != kNone) return label();
    if (std::string_view("aicrR").find(c) != kNone) {
      to_line_end();
      if (text_.contains("\\\n")) return "added text spans several lines";
      return std::nullopt;
    }
    if (c == 's' || c == 'y') return substitute(c);
    if (c == 'w' || c == 'W') return "the command w writes a file";
    if (c == 'e') return "the command e runs a program";
    return "a command cannot be parsed";
  }

  // Parses a label. It ends at a blank or semicolon; older versions take the rest of the line, and
  // differ on braces. If that matters, the script is not understood.
  std::optional<std::string> label() {
    skip(" \t");
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of("; \t\n", at_), text_.size());
    std::string_view name = text_.substr(begin, at_ - begin);
    while (name.ends_with('}')) name.remove_suffix(1);
    skip(" \t");
    if (name.find_first_of("{}#") != kNone || !ends()) return "a label cannot be parsed";
    return std::nullopt;
  }

  std::optional<std::string> substitute(char kind) {
    const char mark = peek();
    ++at_;
    if (mark == '\\' || mark == '\n' || mark == '\0') return "a command cannot be parsed";
    if (!delimited(mark)) return "a pattern cannot be parsed";
    for (; at_ < text_.size() && text_[at_] != mark && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ >= text_.size() || text_[at_] != mark) return "a replacement is not closed";
    ++at_;
    if (kind == 'y')
      return ends() ? std::nullopt : std::optional<std::string>("a command cannot be parsed");
    skip("gpiImM0123456789");
    if (peek() == 'w') return "the flag w writes a file";
    if (peek() == 'e') return "the flag e runs a program";
    return ends() ? std::nullopt : std::optional<std::string>("a flag cannot be parsed");
  }

  bool ends() const {
    return at_ >= text_.size() || std::string_view(" \t\n;}#").find(text_[at_]) != kNone;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr OptionTable kSed{
    "sed", "nErszub", "efli?",
    "--quiet --silent --regexp-extended --null-data --zero-terminated --separate --unbuffered "
    "--posix --debug --sandbox --expression= --line-length= --binary --follow-symlinks",
    "-i --in-place? !-f !--file="};

void sed(const Args& args, Findings& out) {
  const OptionReading reading = read_options(kSed, args, 1, out);
  // Several -e options form the lines of one script.
  std::string script;
  std::size_t word = kNoWord;
  bool given = false;
  const auto add = [&](const Arg& part, std::size_t at) {
    if (!part.known) out.runs(kNoWord, "the sed script is known only at run time");
    script += (given ? "\n" : "") + part.text;
    word = given ? std::max(word, at) : at;
    given = true;
  };
  for (const OptionUse& use : reading.uses) {
    if (use.is('e', "--expression") && use.value_word != kNoWord) add(use.value, use.value_word);
    if (use.is('f', "--file")) given = true;
  }
  if (!given && !reading.operands.empty()) {
    const std::size_t first = reading.operands.front();
    add(args[first], first);
  }
  if (script.empty()) return;
  if (const auto found = SedScript(script).offence()) out.runs(word, "sed: " + *found);
}

// --- awk ---

// Scans an awk program and stops at anything that runs a command or writes a file.
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
      return "a slash may be a division or the start of a pattern";
    } else if (is_letter(c)) {
      return word();
    } else if (c == '|') {
      if (text_.substr(at_, 2) != "||") return "a pipe runs a program";
      at_ += 2;
      last_ = '|';
    } else if (c == '@') {
      return "@ makes an indirect call or loads a library";
    } else if (c == '\\' || c == '`') {
      return "an operator cannot be parsed";
    } else {
      if (c == '>' && printing_ && depth_ <= print_depth_ && !to_stream())
        return "a redirection writes a file";
      sign(c);
      ++at_;
    }
    return std::nullopt;
  }

  // After > of print: whether the target is exactly "/dev/stderr".
  bool to_stream() const {
    std::string_view rest = text_.substr(at_ + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    for (const std::string_view stream : {"\"/dev/stderr\"", "\"/dev/stdout\""})
      if (rest.starts_with(stream)) {
        rest.remove_prefix(stream.size());
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
        return rest.empty() || std::string_view(";}\n#").find(rest[0]) != kNone;
      }
    return false;
  }

  void sign(char c) {
    if (c == '(' || c == '[') {
      ++depth_;
      if (control_ == Control::announced) control_ = Control::open;
      if (control_ == Control::open && control_depth_ == 0) control_depth_ = depth_;
    }
    bool closes_control = false;
    if ((c == ')' || c == ']') && depth_ > 0) {
      closes_control = control_ == Control::open && depth_ == control_depth_;
      if (closes_control) {
        control_ = Control::none;
        control_depth_ = 0;
      }
      --depth_;
    }
    // A statement continues on the next line after an operator, a comma and some keywords.
    if (c == ';' || c == '}' || c == '{' || (c == '\n' && ends_expression())) printing_ = false;
    if (c == ' ' || c == '\t' || c == '\r') return;
    last_ = closes_control ? kAfterControl : c;
  }

  bool ends_expression() const {
    return is_letter(last_) || is_digit(last_) || last_ == kAfterPrint ||
           std::string_view("\")]/.").find(last_) != kNone;
  }

  std::optional<std::string> string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') return "a string spans several lines";
    }
    if (at_ >= text_.size()) return "a string is not closed";
    ++at_;
    last_ = '"';
    return std::nullopt;
  }

  // After the condition of if, while or for, both answers are no, because versions of awk differ.
  bool regex_may_begin() const {
    return last_ == kAfterPrint || std::string_view("(,{};!~&|?:\n=").find(last_) != kNone;
  }
  bool division_may_stand() const {
    return is_letter(last_) || is_digit(last_) || last_ == ']' || last_ == ')' || last_ == '"';
  }

  std::optional<std::string> regex() {
    for (++at_; at_ < text_.size() && text_[at_] != '/'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '\n')) {
        const std::size_t close = bracket_end(text_, at_);
        const std::string_view inside =
            close == kNone ? std::string_view("/") : text_.substr(at_, close - at_);
        if (text_[at_] == '\n' || inside.contains('/')) return "a pattern cannot be parsed";
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
    last_ = one_of(name, "return in delete exit else do case") ? '(' : 'a';
    if (name == "system") return "system runs a program";
    // Versions differ on whether a slash after getline divides.
    if (name == "getline") last_ = kAfterGetline;
    if (one_of(name, "if while for switch")) {
      if (control_ != Control::none) return "a condition cannot be parsed";
      control_ = Control::announced;
    }
    if (name == "print" || name == "printf") {
      printing_ = true;
      print_depth_ = depth_;
      last_ = kAfterPrint;
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t print_depth_ = 0;
  bool printing_ = false;
  char last_ = ';';  // the last significant character; 'a' for a name
  static constexpr char kAfterPrint = '\1';
  static constexpr char kAfterControl = '\2';
  static constexpr char kAfterGetline = '\3';
  enum class Control { none, announced, open };
  Control control_ = Control::none;
  std::size_t control_depth_ = 0;
};

constexpr OptionTable kAwk{
    "awk",
    "PrcCS",
    "Fvfeil",
    "--field-separator= --assign= --posix --re-interval --source= --traditional "
    "--characters-as-bytes --sandbox --use-lc-numeric",
    "!-f !--file= !-i !--include= !-l !--load= !-E !--exec=",
    OptionStyle::before_operand};

void judge_awk(const Arg& program, std::size_t word, Findings& out) {
  if (!program.known) return out.runs(kNoWord, "the awk program is known only at run time");
  if (program.text.contains("/inet")) out.runs(word, "awk: it opens a network connection");
  if (const auto found = AwkProgram(program.text).offence()) out.runs(word, "awk: " + *found);
}

void awk(const Args& args, Findings& out) {
  const OptionReading reading = read_options(kAwk, args, 1, out);
  bool given = false;
  for (const OptionUse& use : reading.uses) {
    if (use.is('e', "--source")) judge_awk(use.value, use.value_word, out);
    given = given || use.is('e', "--source") || use.is('f', "--file") || use.is('E', "--exec");
    if (!use.value.single) return out.runs(kNoWord, "an argument of awk is known only at run time");
  }
  if (given || reading.operands.empty()) return;
  judge_awk(args[reading.operands.front()], reading.operands.front(), out);
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
