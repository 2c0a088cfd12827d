// policy/rule_words.cc: covered_words() and finds() of rules.h: compare rules of words with the
// commands of a shell text, narrowly for allow, broadly for deny and ask.
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

// The arguments of git without the options before the subcommand.
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

// Short and long names of the same option, for programs that rules often restrict.
struct Names {
  std::string_view programs;  // with the subcommand, if there is one
  std::string_view pairs;     // letter=name; several letters may mean the same name
};
constexpr Names kNames[] = {
    {"rm", "r=recursive R=recursive f=force i=interactive d=dir v=verbose"},
    {"cp", "r=recursive R=recursive f=force a=archive n=no-clobber"},
    {"chmod,chown,chgrp", "R=recursive f=silent v=verbose"},
    {"mv,ln", "f=force n=no-clobber s=symbolic"},
    {"grep", "r=recursive R=dereference-recursive i=ignore-case f=file"},
    {"sed", "i=in-place e=expression f=file n=quiet n=silent"},
    {"sort", "o=output u=unique"},
    {"tar", "x=extract x=get c=create f=file t=list C=directory I=use-compress-program"},
    {"curl",
     "o=output O=remote-name X=request d=data T=upload-file F=form K=config L=location "
     "k=insecure H=header u=user x=proxy"},
    {"wget", "O=output-document r=recursive P=directory-prefix e=execute"},
    {"rsync", "e=rsh n=dry-run a=archive"},
    {"make", "f=file f=makefile C=directory"},
    {"git push", "f=force d=delete u=set-upstream n=dry-run"},
    {"git commit", "n=no-verify a=all m=message F=file"},
    {"git clean", "f=force d=d x=x n=dry-run i=interactive"},
    {"git branch", "d=delete f=force m=move D=D"},
    {"git checkout,git switch", "f=force"},
    {"git add", "A=all f=force u=update"},
    {"git tag", "d=delete f=force a=annotate"},
    {"git stash", "u=include-untracked a=all"},
    {"git rebase", "i=interactive x=exec"},
    {"git fetch,git pull", "f=force p=prune t=tags"},
    {"git rm", "r=r f=force"},
    {"npm install,npm i,npm uninstall", "g=global D=save-dev f=force"},
    {"docker run,docker create", "v=volume d=detach p=publish e=env u=user"},
    {"docker rm,docker rmi", "f=force v=volumes"},
    {"docker system", "a=all f=force"},
    {"kubectl delete,kubectl apply",
     "f=filename R=recursive l=selector n=namespace A=all-namespaces"},
    {"apt,apt-get", "y=yes y=assume-yes"},
};
constexpr std::string_view kAnyProgram = "r=recursive R=recursive f=force d=delete a=all";

std::string_view pairs_of(std::string_view program, const std::vector<Arg>& args) {
  std::string with = std::string(program);
  if (args.size() > 1 && args[1].known) with += " " + args[1].text;
  for (const Names& names : kNames)
    for (std::string_view rest = names.programs; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (rest.substr(0, comma) == program || rest.substr(0, comma) == with) return names.pairs;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  return kAnyProgram;
}

// Calls `visit` with each letter and its long name.
template <typename Visit>
void each_pair(std::string_view pairs, const Visit& visit) {
  for (std::size_t at = 0; at < pairs.size();) {
    const std::size_t space = std::min(pairs.find(' ', at), pairs.size());
    visit(pairs[at], pairs.substr(at + 2, space - at - 2));
    at = space + 1;
  }
}

// The options that a word may mean: unabbreviated long names, and letters with a dash. GNU programs
// and git accept abbreviations of long names.
std::set<std::string> options_of(std::string_view word, std::string_view pairs) {
  std::set<std::string> out;
  if (word.starts_with("--")) {
    const std::string_view name = word.substr(2, word.find('=') - 2);
    out.insert("--" + std::string(name));
    each_pair(pairs, [&](char, std::string_view known) {
      if (!name.empty() && known.starts_with(name)) out.insert("--" + std::string(known));
    });
    return out;
  }
  for (const char letter : word.substr(1)) {
    out.insert({'-', letter});
    each_pair(pairs, [&](char short_name, std::string_view known) {
      if (short_name == letter) out.insert("--" + std::string(known));
    });
  }
  return out;
}

bool has_option(const std::string& wanted, const std::vector<Arg>& args) {
  const std::string_view pairs = pairs_of(shell::base_name(args[0].text), args);
  std::set<std::string> given;
  for (const Arg& arg : args) {
    if (!arg.known || !is_option(arg.text)) continue;
    const std::string_view name = std::string_view(arg.text).substr(0, arg.text.find('='));
    if (arg.text == wanted || name == wanted) return true;
    if (wanted.starts_with("--") && name.size() > 2 && wanted.starts_with(name)) return true;
    given.merge(options_of(arg.text, pairs));
  }
  // Every letter of a bundle that the rule names, directly or by its long name.
  if (wanted.starts_with("--"))
    return std::ranges::any_of(options_of(wanted, pairs),
                               [&](const std::string& name) { return given.contains(name); });
  return std::ranges::all_of(std::string_view(wanted).substr(1), [&](char letter) {
    return std::ranges::any_of(options_of(std::string{'-', letter}, pairs),
                               [&](const std::string& name) { return given.contains(name); });
  });
}

// Whether the rule's operands occur in this order among the command's. A word after an option may
// be its value, so skipping it makes the match only possible.
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

// Compares an exact rule with a command that may have computed words.
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
