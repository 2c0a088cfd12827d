// policy/shell/args.h: the words of a command as the program would get them, as far as that is
// known.
//
// A word of the text becomes one Arg, or several where it has braces. What matters of a word that
// is computed when it runs is little: whether it stays one word, and whether it could be an option.
// Variables are judged by every value the text gives them; one that the text never sets comes from
// the environment of the command, which the runtime chose.
//
// PURE. Safe on any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

struct Arg {
  std::string text;     // the value where it is known, else as it was written
  std::string suffix;   // known characters at the end of what is not known as a whole
  bool known = true;    // the program gets exactly `text`
  bool single = true;   // it gets exactly one word
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
};

class Names {
 public:
  explicit Names(const Script& script);

  NameFacts of(const std::string& name) const;
  void unsure(const std::string& name) { facts_[name] = {true, true, false, true}; }

 private:
  void learn(const std::string& name, const Word& value);

  std::map<std::string, NameFacts> facts_;
};

// `word` after brace expansion; one unknown word where that is too much.
std::vector<Arg> args_of(const Word& word, const Names& names);

}  // namespace agentrt::policy::shell
