// How rules of words fit the commands of a shell text: narrowly for allow, widely for deny and ask.
#include <algorithm>
#include <set>

#include "policy/rules.h"
#include "policy/shell/findings.h"
#include "policy/shell/git.h"

namespace agentrt::policy {
namespace {

using shell::Arg;
using Words = std::vector<std::string>;

bool is_git(const shell::Part& part) {
  return part.program().known && shell::base_name(part.program().text) == "git";
}

// The arguments of git without its options before the subcommand.
std::vector<Arg> without_globals(const shell::Part& part, shell::GlobalOptions options) {
  const std::size_t at = shell::git_subcommand(part.args, options);
  if (at == shell::kNoWord || at <= 1 || at >= part.args.size()) return part.args;
  std::vector<Arg> out{part.args.front()};
  out.insert(out.end(), part.args.begin() + static_cast<std::ptrdiff_t>(at), part.args.end());
  return out;
}

bool fits_words(const Rule& rule, const std::vector<Arg>& args) {
  const Words& words = rule.words;
  if (args.size() < words.size() || (rule.kind == Rule::Kind::words && args.size() > words.size()))
    return false;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (!args[i].is(words[i])) return false;
  return true;
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// Letters that stand for an option: those of a bundle, and of long options that everybody knows.
std::set<char> letters_of(std::string_view word) {
  if (word == "--force") return {'f'};
  if (word == "--recursive" || word == "-R") return {'r'};
  if (word == "--delete") return {'d'};
  if (word == "--all") return {'a'};
  if (word.starts_with("--")) return {};
  std::set<char> out(word.begin() + 1, word.end());
  if (out.contains('R')) out.insert('r');
  return out;
}

bool has_option(const std::string& wanted, const std::vector<Arg>& args) {
  std::set<char> letters;
  for (const Arg& arg : args) {
    if (!arg.known || !is_option(arg.text)) continue;
    const std::string_view given = std::string_view(arg.text).substr(0, arg.text.find('='));
    if (arg.text == wanted || given == wanted) return true;
    if (wanted.starts_with("--") && given.size() > 4 && wanted.starts_with(given)) return true;
    letters.merge(letters_of(arg.text));
  }
  const std::set<char> needed = letters_of(wanted);
  return !needed.empty() && std::ranges::includes(letters, needed);
}

// The operands of a rule in their order among those of the command. What follows an option may be
// its value, so stepping over it leaves a doubt.
Match operands_match(const Words& words, const std::vector<Arg>& args) {
  Match found = Match::yes;
  std::size_t at = 1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (is_option(words[i])) continue;
    for (;; ++at) {
      if (at >= args.size()) return Match::no;
      if (!args[at].known) return Match::possible;
      if (is_option(args[at].text)) continue;
      if (args[at].text == words[i]) break;
      if (!is_option(args[at - 1].text)) return Match::no;
      found = Match::possible;
    }
    ++at;
  }
  return found;
}

bool same_program(std::string_view ruled, std::string_view given) {
  return ruled == given || (!ruled.contains('/') && ruled == shell::base_name(given));
}

// An exact rule whose last words are computed.
Match exact_match(const Words& words, const std::vector<Arg>& args) {
  for (std::size_t i = 1; i < std::max(words.size(), args.size()); ++i) {
    if (i < args.size() && !args[i].known) return Match::possible;
    if (i >= words.size() || i >= args.size() || args[i].text != words[i]) return Match::no;
  }
  return Match::yes;
}

}  // namespace

std::optional<std::size_t> covered_words(const Rule& rule, const shell::Part& part) {
  if (rule.kind != Rule::Kind::words && rule.kind != Rule::Kind::prefix) return std::nullopt;
  const bool exact = rule.kind == Rule::Kind::words;
  if (fits_words(rule, part.args)) return exact ? part.args.size() : rule.words.size();
  if (!is_git(part)) return std::nullopt;
  const auto plain = without_globals(part, shell::GlobalOptions::harmless);
  if (plain.size() == part.args.size() || !fits_words(rule, plain)) return std::nullopt;
  return exact ? part.args.size() : rule.words.size() + part.args.size() - plain.size();
}

Match finds(const Rule& rule, const shell::Part& part) {
  if (!part.program().known) return Match::possible;
  if (!same_program(rule.words[0], part.program().text)) return Match::no;
  std::vector<Arg> plain;
  if (is_git(part)) plain = without_globals(part, shell::GlobalOptions::all);
  const std::vector<Arg>& args = is_git(part) ? plain : part.args;
  if (rule.kind == Rule::Kind::words) return exact_match(rule.words, args);
  Match found = operands_match(rule.words, args);
  for (std::size_t i = 1; i < rule.words.size() && found != Match::no; ++i) {
    if (!is_option(rule.words[i]) || has_option(rule.words[i], args)) continue;
    const bool may_hide = std::ranges::any_of(
        args, [](const Arg& arg) { return !arg.known && (arg.option || !arg.single); });
    found = may_hide ? Match::possible : Match::no;
  }
  return found;
}

}  // namespace agentrt::policy
