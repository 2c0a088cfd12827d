// policy/shell/args.h: the words of a command as the program would get them, as far as that is
// known.
//
// A word of the text becomes one Arg, several where it has braces, or none where they leave it
// empty. What matters of a word that is computed when it runs is little: whether it stays one word,
// and whether it could be an option. Variables are judged by every value the text gives them; one
// that the text never sets comes from the environment of the command, which the runtime chose.
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
  std::string text;     // the value where it is known, else as it was written
  std::string suffix;   // known characters at the end of every word that it becomes
  bool known = true;    // the program gets exactly `text`
  bool single = true;   // it gets exactly one word
  bool many = false;    // it may get several words
  bool option = false;  // the word may begin with '-'

  bool is(std::string_view value) const { return known && text == value; }
};

Arg known_arg(std::string text);
// A word of which nothing is known, as xargs makes them.
Arg unknown_arg(std::string written);

// What the text does to a variable.
struct NameFacts {
  bool dash = false;    // a value may begin with '-', or cannot be foreseen
  bool splits = false;  // a value may be several words or a pattern
  bool numeric = true;  // every value is a number
  bool device = false;  // a value may lead to /dev
  bool set = false;     // the text gives it a value
  bool empty = false;   // one that may be empty
  bool array = false;
};

class Names {
 public:
  // The names of a text that stands within another one has those of the outer text too.
  Names(const Script& script, const Names* outer);

  NameFacts of(const std::string& name) const;
  void unsure(const std::string& name);
  void array(const std::string& name) { facts_[name].array = true; }

  // Whether arithmetic over the variable can do nothing but count.
  bool counts(const std::string& name) const;

 private:
  enum class Value { assigned, looped };
  void learn(const std::string& name, const Word& value, Value from);

  std::map<std::string, NameFacts> facts_;
  std::set<std::string> early_;  // evaluated when the text may not have set them yet
  bool all_numeric_ = true;      // every variable that the text sets has numbers alone
};

// Whether the target of a reading redirection may be /dev/tcp/… or /dev/udp/…, which connects.
bool may_connect(const Word& target, const Names& names);

// `word` after brace expansion, without the words that it leaves empty; one unknown word where that
// is too much.
std::vector<Arg> args_of(const Word& word, const Names& names);

}  // namespace agentrt::policy::shell
