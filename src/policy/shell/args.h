// policy/shell/args.h: the arguments of a command, with what is known about each before it runs.
//
// A word of the text becomes one Arg; with braces it may become several or none. For a word that is
// computed at run time, only two properties matter: whether it stays one word, and whether it may
// be an option. A variable is judged by all values that the text assigns to it. A variable that the
// text never sets comes from the command's environment, which the runtime chooses.
//
// PURE. Safe on any thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

struct Arg {
  std::string text;     // the value if known, otherwise the source text
  std::string suffix;   // known last characters of every word that it expands to
  bool known = true;    // the program gets exactly `text`
  bool single = true;   // it gets exactly one word
  bool many = false;    // it may get several words
  bool option = false;  // a word of it may begin with '-'

  bool is(std::string_view value) const { return known && text == value; }
};

Arg known_arg(std::string text);
// An argument about which nothing is known, such as the words that xargs adds.
Arg unknown_arg(std::string written);

// What the text may assign to a variable.
struct NameFacts {
  bool dash = false;    // a value may begin with '-' or is unknown
  bool splits = false;  // a value may expand to several words or be a pattern
  bool numeric = true;  // every value is a number
  bool device = false;  // a value may begin with /dev/tcp/ or /dev/udp/
  bool set = false;     // the text assigns a value
  bool empty = false;   // a value may be empty
  bool array = false;
};

class Names {
 public:
  // A nested text (sh -c, eval) starts with the names of the outer text.
  Names(const Script& script, const Names* outer);

  NameFacts of(const std::string& name) const;
  void unsure(const std::string& name);
  void array(const std::string& name) { facts_[name].array = true; }

  // Whether evaluating the variable in arithmetic is safe: its value is a number and cannot run a
  // command.
  bool counts(const std::string& name) const;

 private:
  enum class Value { assigned, looped };
  void learn(const std::string& name, const Word& value, Value from);

  std::map<std::string, NameFacts> facts_;
  std::set<std::string> early_;  // evaluated in arithmetic, possibly before the text sets them
  bool all_numeric_ = true;      // the text assigns only numbers
};

// Whether a read redirection may open a connection: its target may be /dev/tcp/… or /dev/udp/….
bool may_connect(const Word& target, const Names& names);

// The arguments after brace expansion, without words that become empty. One unknown argument if
// there are too many.
std::vector<Arg> args_of(const Word& word, const Names& names);

}  // namespace agentrt::policy::shell
