#include "policy/shell/args.h"

#include <algorithm>
#include <charconv>

#include "policy/shell/findings.h"
#include "policy/shell/limits.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kPatternSigns = "*?[";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// One character, or a piece that is put in as a whole.
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

// {1..9}, {a..e}, with a step: the values, or nothing when it is no such thing.
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
  std::vector<Units> choices;  // none when bash would leave the braces alone
  std::size_t close = 0;
  bool unsure = false;  // a sequence that is not read here: {01..10}, {A..c}
};

Braces braces_at(const Units& units, std::size_t open) {
  std::vector<Units> out(1);
  std::size_t depth = 0;
  for (std::size_t at = open + 1; at < units.size(); ++at) {
    if (is_active(units[at], '{')) ++depth;
    if (is_active(units[at], '}') && depth-- == 0) {
      if (out.size() > 1) return {.choices = std::move(out), .close = at};
      Braces made{.choices = {}, .close = at};
      const std::string inner = text_of(out[0]);
      for (const std::string& value : sequence(inner)) {
        made.choices.emplace_back();
        for (const char c : value) made.choices.back().push_back({.c = c, .active = false});
      }
      made.unsure = made.choices.empty() && inner.contains("..");
      return made;
    }
    if (is_active(units[at], ',') && depth == 0)
      out.emplace_back();
    else
      out.back().push_back(units[at]);
  }
  return {};
}

// Appends every word that the braces in `units` make. False when there are too many, or when they
// are not all understood.
bool expand(Units units, std::size_t from, std::vector<Units>& out) {
  for (std::size_t open = from; open < units.size(); ++open) {
    if (!is_active(units[open], '{')) continue;
    const Braces braces = braces_at(units, open);
    if (braces.unsure) return false;
    for (const Units& choice : braces.choices) {
      Units made(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(open));
      made.insert(made.end(), choice.begin(), choice.end());
      made.insert(made.end(), units.begin() + static_cast<std::ptrdiff_t>(braces.close) + 1,
                  units.end());
      if (!expand(std::move(made), open, out)) return false;
    }
    if (!braces.choices.empty()) return true;
  }
  if (out.size() >= kBraceWordsMax) return false;
  out.push_back(std::move(units));
  return true;
}

// The facts of one expanded word, gathered from left to right.
class Judge {
 public:
  Judge(const Word& word, const Names& names) : names_(names) { arg_.text = word.source; }

  Arg judge(const Units& units) {
    for (std::size_t at = 0; at < units.size(); ++at) {
      const Unit& unit = units[at];
      if (unit.piece && unit.piece->kind != Piece::Kind::text)
        put_in(*unit.piece);
      else if (unit.c != 0)
        character(unit, at == 0);
    }
    if (units.empty()) arg_.single = false;  // {a,}: bash drops it
    if (arg_.known) arg_.text = value_;
    arg_.suffix = value_;
    return arg_;
  }

 private:
  void character(const Unit& unit, bool first) {
    if (unit.active && first && unit.c == '~') {
      arg_.known = false;
      begun_ = true;
    }
    if (unit.active && kPatternSigns.find(unit.c) != std::string_view::npos && !alone_) {
      arg_.known = arg_.single = false;
      if (!begun_) arg_.option = true;
      value_.clear();
      begun_ = true;
      return;
    }
    if (!begun_ && unit.c == '-') arg_.option = true;
    begun_ = true;
    value_ += unit.c;
  }

  void put_in(const Piece& piece) {
    arg_.known = false;
    value_.clear();
    NameFacts facts{.dash = true, .splits = true, .numeric = false, .device = true};
    if (piece.kind == Piece::Kind::variable) facts = names_.of(piece.text);
    if (piece.kind == Piece::Kind::number || piece.kind == Piece::Kind::path)
      facts = {.dash = false, .splits = false, .numeric = true, .device = false};
    if (facts.dash && !begun_) arg_.option = true;
    // Unquoted and empty it vanishes; what follows may then be the beginning.
    const bool may_vanish = piece.kind == Piece::Kind::variable;
    if (piece.quoting == Quoting::none && (facts.splits || may_vanish)) arg_.single = false;
    if (piece.quoting == Quoting::none && facts.splits) arg_.option = true;
    if (piece.text == "@" && piece.kind == Piece::Kind::computed) arg_.single = false;
    if (!may_vanish && piece.kind != Piece::Kind::computed) begun_ = true;
  }

 public:
  bool alone_ = false;  // the word is [ or such

 private:
  const Names& names_;
  Arg arg_;
  std::string value_;
  bool begun_ = false;
};

}  // namespace

Arg known_arg(std::string text) {
  const bool option = text.starts_with('-');
  return {.text = std::move(text), .suffix = {}, .known = true, .single = true, .option = option};
}

Arg unknown_arg(std::string written) {
  return {
      .text = std::move(written), .suffix = {}, .known = false, .single = false, .option = true};
}

Names::Names(const Script& script) {
  for (const std::string& name : script.unsure_names) unsure(name);
  for (const SimpleCommand& command : script.commands)
    for (const Assignment& given : command.assignments) learn(given.name, given.value);
  for (const Assignment& given : script.loops) learn(given.name, given.value);
}

NameFacts Names::of(const std::string& name) const {
  if (const auto found = facts_.find(name); found != facts_.end()) return found->second;
  if (name.starts_with("BASH") || name.starts_with("COMP_")) return {true, true, false, true};
  if (one_of(name, "MAPFILE COPROC DIRSTACK FUNCNAME OPTARG REPLY _ READLINE_LINE"))
    return {true, true, false, true};
  // Of the environment only what everybody has is known; folders may have spaces in their names.
  if (one_of(name, "HOME PWD OLDPWD TMPDIR"))
    return {.dash = false, .splits = true, .numeric = true, .device = false};
  if (one_of(name, "USER LOGNAME HOSTNAME SHELL LANG TERM UID EUID PPID RANDOM SECONDS LINENO"))
    return {.dash = false, .splits = false, .numeric = true, .device = false};
  return {.dash = true, .splits = true, .numeric = true, .device = false};
}

void Names::learn(const std::string& name, const Word& value) {
  NameFacts& facts = facts_[name];
  bool begun = false;
  for (const Piece& piece : value.pieces) {
    if (piece.kind == Piece::Kind::number) {
      begun = true;
      continue;
    }
    if (piece.kind != Piece::Kind::text) {
      facts = {true, true, false, true};
      return;
    }
    if (!begun && piece.text.starts_with('-')) facts.dash = true;
    const auto odd = [](char c) {
      return !is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
             std::string_view("_./:@%+=,-{}").find(c) == std::string_view::npos;
    };
    if (std::ranges::any_of(piece.text, odd)) facts.splits = true;
    // A pattern at the beginning may match a name that begins with '-'.
    if (!begun && piece.quoting == Quoting::none && !piece.text.empty() &&
        (kPatternSigns.find(piece.text.front()) != std::string_view::npos ||
         (piece.text.front() == '{' && piece.text.find('-') != std::string::npos)))
      facts.dash = true;
    if (piece.text.find("dev") != std::string::npos) facts.device = true;
    const auto countable = [](char c) { return is_digit(c) || c == '{' || c == '}' || c == '.'; };
    if (!std::ranges::all_of(piece.text, countable)) facts.numeric = false;
    begun = begun || !piece.text.empty();
  }
}

std::vector<Arg> args_of(const Word& word, const Names& names) {
  std::vector<Units> expanded;
  Units whole = units_of(word);
  const bool braces = std::ranges::any_of(whole, [](const Unit& u) { return is_active(u, '{'); });
  if (braces && whole.size() > kBraceBytesMax) return {unknown_arg(word.source)};
  if (!expand(std::move(whole), 0, expanded)) return {unknown_arg(word.source)};
  std::vector<Arg> out;
  for (const Units& units : expanded) {
    Judge judge(word, names);
    judge.alone_ = word.source == "[";
    out.push_back(judge.judge(units));
  }
  return out;
}

}  // namespace agentrt::policy::shell
