#include "policy/shell/args.h"

#include <algorithm>
#include <charconv>

#include "policy/shell/findings.h"
#include "policy/shell/limits.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kPatternSigns = "*?[";
constexpr auto kNone = std::string::npos;

constexpr NameFacts kUnsure = {
    .dash = true, .splits = true, .numeric = false, .device = true, .set = true, .empty = true};

// Variables in which bash keeps a number, unless the text sets them.
constexpr std::string_view kNumbers =
    "UID EUID PPID RANDOM SRANDOM SECONDS LINENO EPOCHSECONDS OPTIND SHLVL COLUMNS LINES HISTCMD "
    "BASHPID BASH_SUBSHELL !";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// One character, or one expansion.
struct Unit {
  char c = 0;
  bool active = false;
  const Piece* piece = nullptr;
};
using Units = std::vector<Unit>;

Units units_of(const Word& word) {
  Units out;
  for (const Piece& piece : word.pieces) {
    if (piece.kind != Piece::Kind::text || piece.text.empty()) {
      out.push_back({.piece = &piece});
      continue;
    }
    for (const char c : piece.text)
      out.push_back({.c = c, .active = piece.quoting == Quoting::none, .piece = &piece});
  }
  return out;
}

bool is_active(const Unit& unit, char c) { return unit.active && unit.c == c; }

std::string text_of(const Units& units) {
  std::string out;
  for (const Unit& unit : units) out += unit.c;
  return out;
}

// The values of {1..9} or {a..e}, also with a step; empty: not such a sequence.
std::vector<std::string> sequence(const std::string& inner) {
  const std::size_t first = inner.find("..");
  if (first == std::string::npos) return {};
  const std::size_t second = inner.find("..", first + 2);
  const std::string from = inner.substr(0, first);
  const std::string to = inner.substr(first + 2, second - first - 2);
  long begin = 0, end = 0, step = 1;
  const auto lower = [](const std::string& s) {
    return s.size() == 1 && s[0] >= 'a' && s[0] <= 'z';
  };
  const auto padded = [](const std::string& s) {
    return s.size() > 1 && (s[0] == '0' || s[0] == '-');
  };
  if (padded(from) || padded(to)) return {};
  const bool letters = lower(from) && lower(to);
  if (letters) {
    begin = from[0];
    end = to[0];
  } else if (is_number(from) && is_number(to) && from.size() < 9 && to.size() < 9) {
    begin = std::stol(from);
    end = std::stol(to);
  } else {
    return {};
  }
  if (second != std::string::npos) {
    const std::string by = inner.substr(second + 2);
    if (!is_number(by) || by.size() > 8) return {};
    step = std::max(1L, std::abs(std::stol(by)));
  }
  std::vector<std::string> out;
  for (long at = begin; begin <= end ? at <= end : at >= end; at += begin <= end ? step : -step) {
    if (out.size() > kBraceWordsMax) break;
    out.push_back(letters ? std::string(1, static_cast<char>(at)) : std::to_string(at));
  }
  return out;
}

struct Braces {
  std::vector<Units> choices;  // empty: bash does not expand these braces
  std::size_t close = 0;
  bool unsure = false;  // a sequence that is not implemented: {01..10}, {A..c}, {a..'c'}
};

Units part_of(const Units& units, std::size_t from, std::size_t to) {
  return {units.begin() + static_cast<std::ptrdiff_t>(from),
          units.begin() + static_cast<std::ptrdiff_t>(to)};
}

bool active_at(const Units& units, std::size_t at, char c) {
  return at < units.size() && is_active(units[at], c);
}

Braces sequence_of(const Units& inner, std::size_t close) {
  Braces made{.choices = {}, .close = close};
  // Bash does not expand a sequence with quotes in it.
  const bool counts = std::ranges::all_of(inner, &Unit::active);
  for (const std::string& value : counts ? sequence(text_of(inner)) : std::vector<std::string>{}) {
    made.choices.emplace_back();
    for (const char c : value) made.choices.back().push_back({.c = c, .active = false});
  }
  made.unsure = made.choices.empty();
  return made;
}

// The braces that open at `open`. They close at the first } that follows a comma or two dots at
// their own level: {a}b,c} is a}b and c.
Braces braces_at(const Units& units, std::size_t open) {
  std::vector<Units> out(1);
  std::size_t depth = 0;
  bool dots = false;
  for (std::size_t at = open + 1; at < units.size(); ++at) {
    const bool close = active_at(units, at, '}');
    if (close && depth == 0 && out.size() > 1) return {.choices = std::move(out), .close = at};
    if (close && depth == 0 && dots) return sequence_of(out[0], at);
    if (close && depth > 0) --depth;
    if (active_at(units, at, '{')) ++depth;
    dots = dots || (depth == 0 && active_at(units, at, '.') && active_at(units, at + 1, '.') &&
                    !active_at(units, at + 2, '}'));
    if (active_at(units, at, ',') && depth == 0)
      out.emplace_back();
    else
      out.back().push_back(units[at]);
  }
  return {};
}

// Appends every word that the braces in `units` produce: the text before the first braces, each of
// their choices and each word of the rest. False: too many, or bash's result depends on more
// than these units.
bool expand(const Units& units, std::vector<Units>& out) {
  for (std::size_t open = 0; open < units.size(); ++open) {
    if (!is_active(units[open], '{')) continue;
    const Braces braces = braces_at(units, open);
    // {},a} depends on the character before it.
    if (braces.unsure || (!braces.choices.empty() && active_at(units, open + 1, '}'))) return false;
    if (braces.choices.empty()) continue;
    std::vector<Units> chosen, rests;
    for (const Units& choice : braces.choices)
      if (!expand(choice, chosen)) return false;
    if (!expand(part_of(units, braces.close + 1, units.size()), rests)) return false;
    for (const Units& choice : chosen)
      for (const Units& rest : rests) {
        if (out.size() >= kBraceWordsMax) return false;
        Units made = part_of(units, 0, open);
        made.insert(made.end(), choice.begin(), choice.end());
        made.insert(made.end(), rest.begin(), rest.end());
        out.push_back(std::move(made));
      }
    return true;
  }
  if (out.size() >= kBraceWordsMax) return false;
  out.push_back(units);
  return true;
}

// Whether brace expansion may append to the name of a variable: $v{x,y} is $vx and $vy, and {$v,a}x
// is $vx and ax.
bool name_continues(const Units& units) {
  for (std::size_t at = 0; at + 1 < units.size(); ++at) {
    const Piece* piece = units[at].piece;
    const bool variable =
        piece && piece->kind == Piece::Kind::variable && piece->quoting == Quoting::none;
    if (variable && (active_at(units, at + 1, '{') || active_at(units, at + 1, ',') ||
                     active_at(units, at + 1, '}')))
      return true;
  }
  return false;
}

// Every word that the braces of `word` produce. False: too many, or a sequence that is not
// implemented, or the name of a variable depends on the braces.
bool expanded_units(const Word& word, std::vector<Units>& out) {
  Units whole = units_of(word);
  const bool braces = std::ranges::any_of(whole, [](const Unit& u) { return is_active(u, '{'); });
  // Brace expansion comes first: {a,$}{HOME,b} produces the variable $HOME.
  const bool dollar = std::ranges::any_of(whole, [](const Unit& u) { return is_active(u, '$'); });
  if (braces && (dollar || name_continues(whole) || whole.size() > kBraceBytesMax)) return false;
  return expand(whole, out);
}

// Determines the properties of one expanded word, from left to right.
class Judge {
 public:
  Judge(const Word& word, const Names& names) : names_(names) {
    arg_.text = word.source;
    alone_ = word.source == "[";
  }

  Arg judge(const Units& units) {
    for (std::size_t at = 0; at < units.size(); ++at) {
      const Unit& unit = units[at];
      if (unit.piece && unit.piece->kind != Piece::Kind::text)
        put_in(*unit.piece);
      else if (unit.c != 0)
        character(unit, at == 0);
    }
    // A number can at most look like an option such as -5, which is harmless.
    if (!arg_.known && digits_) arg_.option = false;
    if (arg_.known) arg_.text = value_;
    if (!arg_.many) arg_.suffix = value_;
    if (pattern_) arg_.many = true;  // all its words have the same suffix
    return arg_;
  }

 private:
  void character(const Unit& unit, bool first) {
    digits_ = digits_ && is_digit(unit.c);
    if (unit.active && first && unit.c == '~') {
      arg_.known = false;
      begun_ = true;
    }
    const bool sign = kPatternSigns.find(unit.c) != std::string_view::npos && !alone_;
    if (unit.active && (sign || (pattern_ && unit.c == ']'))) {
      arg_.known = arg_.single = false;
      if (!begun_) arg_.option = true;
      value_.clear();
      begun_ = pattern_ = true;
      return;
    }
    if (!begun_ && unit.c == '-') arg_.option = true;
    begun_ = true;
    value_ += unit.c;
  }

  void put_in(const Piece& piece) {
    arg_.known = false;
    value_.clear();
    NameFacts facts = kUnsure;
    if (piece.kind == Piece::Kind::variable) facts = names_.of(piece.text);
    if (piece.kind == Piece::Kind::number) facts = {.dash = piece.negative, .set = true};
    if (piece.kind == Piece::Kind::path) facts = {.numeric = false};
    digits_ = digits_ && facts.numeric && facts.set;
    if (facts.dash && !begun_) arg_.option = true;
    // An empty unquoted expansion vanishes, and the next character may become the first.
    const bool may_vanish =
        piece.kind == Piece::Kind::variable && !(piece.sure && facts.set && !facts.empty);
    if (piece.quoting == Quoting::none && (facts.splits || may_vanish)) arg_.single = false;
    if (piece.several || (piece.quoting == Quoting::none && facts.splits)) {
      arg_.option = arg_.many = true;
      arg_.single = false;
    }
    if (!may_vanish && piece.kind != Piece::Kind::computed) begun_ = true;
  }

  const Names& names_;
  Arg arg_;
  std::string value_;
  bool alone_ = false;  // the word is a single [
  bool begun_ = false;
  bool digits_ = true;
  bool pattern_ = false;
};

// Whether a path that begins with `lead` may be a connection, depending on the rest.
bool leads_to_device(std::string_view lead) {
  constexpr std::string_view kDevices[] = {"/dev/tcp/", "/dev/udp/"};
  return std::ranges::any_of(kDevices, [&](std::string_view device) {
    return device.starts_with(lead) || lead.starts_with(device);
  });
}

// Updates the facts about a variable from a value that it gets.
class Lesson {
 public:
  explicit Lesson(NameFacts& facts) : facts_(facts) { facts_.set = true; }

  void learn(const Units& units) {
    for (const Unit& unit : units) {
      if (unit.piece && unit.piece->kind == Piece::Kind::number) {
        facts_.dash = facts_.dash || (!begun_ && unit.piece->negative);
        begun_ = true;
      } else if (unit.piece && unit.piece->kind != Piece::Kind::text) {
        const bool array = facts_.array;
        facts_ = kUnsure;
        facts_.array = array;
        return;
      } else if (unit.c != 0) {
        character(unit);
      }
    }
    if (leads_to_device(lead_)) facts_.device = true;
    if (!begun_) facts_.empty = true;
  }

 private:
  void character(const Unit& unit) {
    // A leading pattern may match a name that begins with '-'.
    const bool pattern = unit.active && kPatternSigns.find(unit.c) != std::string_view::npos;
    if (!begun_ && (unit.c == '-' || pattern)) facts_.dash = true;
    if (!is_digit(unit.c) && (begun_ || unit.c != '-')) facts_.numeric = false;
    const bool letter = (unit.c | 0x20) >= 'a' && (unit.c | 0x20) <= 'z';
    if (!is_digit(unit.c) && !letter &&
        std::string_view("_./:@%+=,-{}").find(unit.c) == std::string_view::npos)
      facts_.splits = true;
    begun_ = true;
    lead_ += unit.c;
  }

  NameFacts& facts_;
  std::string lead_;
  bool begun_ = false;
};

}  // namespace

Arg known_arg(std::string text) {
  const bool option = text.starts_with('-');
  return {.text = std::move(text), .option = option};
}

Arg unknown_arg(std::string written) {
  return {.text = std::move(written),
          .suffix = {},
          .known = false,
          .single = false,
          .many = true,
          .option = true};
}

Names::Names(const Script& script, const Names* outer) {
  if (outer) *this = *outer;
  for (const std::string& name : script.unsure_names) unsure(name);
  for (const SimpleCommand& command : script.commands)
    for (const Assignment& given : command.assignments)
      learn(given.name, given.value, Value::assigned);
  for (const Assignment& given : script.loops) learn(given.name, given.value, Value::looped);
  for (const std::string& name : script.array_names) array(name);
  for (const std::string& name : script.counted_names) facts_[name].set = true;
  early_.insert(script.early_names.begin(), script.early_names.end());
  // Arithmetic may also change the variables that it names.
  for (const std::string& name : script.arithmetic_names)
    if (const auto found = facts_.find(name); found != facts_.end()) found->second.dash = true;
}

void Names::unsure(const std::string& name) {
  NameFacts& facts = facts_[name];
  const bool array = facts.array;
  facts = kUnsure;
  facts.array = array;
  all_numeric_ = false;
}

NameFacts Names::of(const std::string& name) const {
  if (const auto found = facts_.find(name); found != facts_.end()) return found->second;
  if (one_of(name, kNumbers)) return {.set = true};
  if (name.starts_with("BASH") || name.starts_with("COMP_") ||
      one_of(name,
             "MAPFILE COPROC DIRSTACK FUNCNAME OPTARG REPLY _ READLINE_LINE GROUPS "
             "PIPESTATUS COMPREPLY")) {
    NameFacts facts = kUnsure;
    facts.array = true;
    return facts;
  }
  // Only common variables of the environment are known. Paths may contain spaces.
  if (one_of(name, "HOME PWD OLDPWD TMPDIR")) return {.splits = true, .numeric = false};
  if (one_of(name, "USER LOGNAME HOSTNAME SHELL LANG TERM")) return {};
  return {.dash = true, .splits = true};
}

bool Names::counts(const std::string& name) const {
  if (one_of(name, kNumbers)) return of(name).numeric;
  const NameFacts facts = of(name);
  if (!facts.numeric) return false;
  // Names in capitals may come from the environment, and such a value may be the name of any
  // variable of the text.
  const bool capitals = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  const bool own = facts.set && !(capitals && early_.contains(name));
  return own || all_numeric_;
}

void Names::learn(const std::string& name, const Word& value, Value from) {
  NameFacts& facts = facts_[name];
  std::vector<Units> expanded;
  if (from == Value::assigned)
    expanded.push_back(units_of(value));
  else if (!expanded_units(value, expanded))
    return unsure(name);
  for (const Units& units : expanded) Lesson(facts).learn(units);
  all_numeric_ = all_numeric_ && facts.numeric;
}

bool may_connect(const Word& target, const Names& names) {
  std::string lead;
  for (const Piece& piece : target.pieces) {
    if (piece.kind == Piece::Kind::path) return false;
    if (piece.kind == Piece::Kind::text) {
      const std::size_t brace = piece.quoting == Quoting::none ? piece.text.find('{') : kNone;
      lead += piece.text.substr(0, brace);
      if (!leads_to_device(lead)) return false;
      if (brace != kNone) return true;
    } else if (piece.kind != Piece::Kind::variable || !lead.empty() ||
               names.of(piece.text).device) {
      return true;
    }
    // Even a variable that is no device path may be empty, so the next piece may be the beginning.
  }
  return !lead.empty();
}

std::vector<Arg> args_of(const Word& word, const Names& names) {
  std::vector<Units> expanded;
  if (!expanded_units(word, expanded)) return {unknown_arg(word.source)};
  const bool braces = expanded.size() > 1;
  std::vector<Arg> out;
  for (const Units& units : expanded)
    if (!units.empty() || !braces) out.push_back(Judge(word, names).judge(units));
  return out;
}

}  // namespace agentrt::policy::shell
