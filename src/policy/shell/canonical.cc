#include "policy/shell/canonical.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/shell/findings.h"
#include "policy/shell/limits.h"
#include "policy/shell/variables.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::size_t kDescriptorDigitsMax = 2;  // bash sometimes parses a longer number as a word

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bash uses these two characters internally to mark parts of a word.
bool has_internal_marks(std::string_view value) {
  return value.find_first_of("\x01\x7f") != std::string_view::npos;
}

// Whether bash may expand a tilde: at the start, or after `=` or `:`. With braces any tilde may get
// to such a position.
bool has_tilde(const Word& word) {
  char before = '=';
  bool tilde = false, brace = false;
  for (const Piece& piece : word.pieces)
    for (const char c : piece.text) {
      const bool active = piece.quoting == Quoting::none;
      if (active && c == '~' && (before == '=' || before == ':')) return true;
      tilde = tilde || (active && c == '~');
      brace = brace || (active && c == '{');
      before = c;
    }
  return tilde && brace;
}

// Writes the canonical form of one script. Each function returns false if it cannot.
class Writer {
 public:
  Writer(const Script& script, const Names& names) : script_(script), names_(names) {}

  std::optional<std::string> write() {
    if (script_.compound || !script_.doubts.empty() || script_.over_limit) return std::nullopt;
    for (const Joint& joint : script_.joints) {
      const bool fits =
          joint.sign.empty() ? command(script_.commands[joint.command]) : sign(joint.sign);
      if (!fits || out_.size() > kTextBytesMax) return std::nullopt;
      last_ = joint.sign;
    }
    const bool ended = place_ == Place::done || place_ == Place::open;
    if (!ended || !groups_.empty() || out_.empty()) return std::nullopt;
    if (!is_utf8(out_)) return std::nullopt;
    if (last_ == ";" || last_ == "\n") out_.pop_back();
    if (out_.ends_with(' ')) out_.pop_back();
    return std::move(out_);
  }

 private:
  // What may come next. open: a pipeline or the end of the list. done: a command has ended.
  enum class Place { open, pipeline, command, done };

  // --- operators ---

  bool sign(std::string_view what) {
    if (what == "!" || what.starts_with("time"))
      return put_sign(what, place_ == Place::open || place_ == Place::pipeline, Place::pipeline);
    if (what == "(" || what == "{") {
      groups_ += what;
      return put_sign(what, place_ != Place::done, Place::pipeline);
    }
    if (what == ")" || what == "}") return close(what);
    const bool ended = place_ == Place::done;
    if (what == "&&" || what == "||") return put_sign(what, ended, Place::pipeline);
    if (what == "|" || what == "|&") return put_sign(what, ended, Place::command);
    return put_sign(what, ended, Place::open);  // ; & newline
  }

  bool close(std::string_view what) {
    const bool brace = what == "}";
    const bool fits = groups_.ends_with(brace ? '{' : '(') &&
                      (place_ == Place::open || (!brace && place_ == Place::done));
    if (fits) groups_.pop_back();
    return put_sign(what, fits, Place::done);
  }

  bool put_sign(std::string_view what, bool fits, Place next) {
    put(what);
    place_ = next;
    return fits;
  }

  void put(std::string_view text) {
    if (!out_.empty() && !out_.ends_with('\n') && text != "\n") out_ += ' ';
    out_ += text;
  }

  bool put_quoted(std::string_view value) {
    put({});
    return add_quoted(value);
  }

  bool add_quoted(std::string_view value) {
    out_ += '\'';
    for (const char c : value) {
      if (c == '\'')
        out_ += "'\\''";
      else
        out_ += c;
    }
    out_ += '\'';
    return !has_internal_marks(value) && out_.size() <= kTextBytesMax;
  }

  // --- commands ---

  bool command(const SimpleCommand& given) {
    const bool of_group = last_ == ")" || last_ == "}";
    if (given.of_compound != (place_ == Place::done) || given.of_compound != of_group) return false;
    place_ = Place::done;
    if (given.words.empty() && (!given.assignments.empty() || given.redirections.empty()))
      return false;
    return std::ranges::all_of(given.assignments, [&](const auto& a) { return assignment(a); }) &&
           words(given) &&
           std::ranges::all_of(given.redirections, [&](const auto& r) { return redirection(r); });
  }

  // False for an assignment that bash evaluates or that changes what a program does.
  bool assignment(const Assignment& given) {
    const auto value = literal(given.value);
    if (!given.plain || !value || has_tilde(given.value) || steers(given)) return false;
    put(given.name);
    out_ += '=';
    return add_quoted(*value);
  }

  bool words(const SimpleCommand& given) {
    std::vector<std::string> values;
    for (const Word& word : given.words) {
      if (has_tilde(word)) return false;
      for (Arg& arg : args_of(word, names_)) {
        if (!arg.known || !arg.single) return false;
        values.push_back(std::move(arg.text));
      }
    }
    // %1 resumes a job only without quotes, and set -v prints the original text.
    const bool own_words = !values.empty() && (values[0].starts_with('%') || prints_text(values));
    return !own_words &&
           std::ranges::all_of(values, [&](const auto& value) { return put_quoted(value); });
  }

  static bool prints_text(const std::vector<std::string>& values) {
    return values[0] == "set" && std::ranges::any_of(values, [](const std::string& value) {
             return value == "verbose" || (value.starts_with('-') && value.contains('v'));
           });
  }

  // --- redirections ---

  bool redirection(const Redirection& given) {
    const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(given.sign, is_digit) -
                                                 given.sign.begin());
    if (digits > kDescriptorDigitsMax) return false;
    const std::string number = given.sign.substr(0, digits);
    const std::string_view sign = std::string_view(given.sign).substr(digits);
    if (has_tilde(given.target)) return false;
    if (given.kind == Redirection::Kind::here_text) return here_text(given, number, sign);
    const auto target = literal(given.target);
    if (!target) return false;
    if (given.kind == Redirection::Kind::descriptor) return descriptor(number, sign, *target);
    const bool both = sign == "&>" || sign == "&>>";
    if (!one_of(sign, "< > >> >| <> &> &>>") || (both && digits > 0)) return false;
    put(number);
    out_ += sign;
    return put_quoted(*target);
  }

  // 2>&1, >&-, 3<&0-
  bool descriptor(const std::string& number, std::string_view sign, const std::string& target) {
    const std::string_view of = std::string_view(target).substr(0, target.find('-'));
    const bool moves = target.size() > of.size();
    if (!one_of(sign, ">& <&") || of.size() > kDescriptorDigitsMax ||
        !std::ranges::all_of(of, is_digit) || (moves && target.size() != of.size() + 1))
      return false;
    put(number);
    out_ += sign;
    out_ += target;
    return !target.empty();
  }

  // A here-document becomes a here-string, to which bash adds the last newline.
  bool here_text(const Redirection& given, const std::string& number, std::string_view sign) {
    if (!given.literal_body || !one_of(sign, "<<< << <<-")) return false;
    std::string_view body = given.body;
    if (sign != "<<<") {
      if (!body.ends_with('\n')) return false;
      body.remove_suffix(1);
    }
    put(number);
    out_ += "<<<";
    return put_quoted(body);
  }

  const Script& script_;
  const Names& names_;
  std::string out_;
  std::string groups_;  // open groups: ( and {
  std::string_view last_;
  Place place_ = Place::open;
};

}  // namespace

std::optional<std::string> canonical(const Script& script, const Names& names) {
  return Writer(script, names).write();
}

}  // namespace agentrt::policy::shell
