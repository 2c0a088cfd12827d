// policy/shell/syntax.h: a bash text as the simple commands that bash would run.
//
// read() goes through a text as `/bin/bash -c` would and lists every simple command in it, wherever
// it stands: in chains, pipes, groups, loops, functions, substitutions and here-documents. How the
// commands are joined is dropped on purpose: whether a command runs is not for us to foresee, so
// each one counts. The joints keep it for those who write the text down again (canonical.h).
//
// What this reader does not know, or reads in a way that bash might not, is a doubt. A script with
// a doubt is never allowed by a prefix rule; the commands that were seen still count against it, so
// a deny rule finds them. Beyond limits.h reading stops.
//
// PURE: text in, values out. Safe on any thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::policy::shell {

enum class Quoting { none, quoted };

// A run of characters of a word, or something that bash puts in their place.
struct Piece {
  enum class Kind {
    text,      // these characters; unquoted ones may be a pattern
    variable,  // $name, ${name}
    number,    // arithmetic, lengths, exit codes
    path,      // a path that bash makes up: process substitution
    computed,  // anything else
  };
  Kind kind = Kind::text;
  std::string text;  // the characters, or the variable's name
  Quoting quoting = Quoting::none;
  bool several = false;   // any number of words, within quotes too: "$@"
  bool negative = false;  // a number that may begin with '-'
  bool sure = false;      // a variable that the text has certainly set before
};

struct Word {
  std::vector<Piece> pieces;
  std::string source;  // as it was written
};

// The value of a word that bash leaves as it is; nothing when it has patterns, braces, a tilde at
// its start or parts that are computed.
std::optional<std::string> literal(const Word& word);

struct Assignment {
  std::string name;
  Word value;
  bool exported = false;  // it stands before a command, or in export
  bool plain = false;     // name=value, with neither a subscript, += nor an array
};

struct Redirection {
  enum class Kind { read, write, descriptor, here_text };
  Kind kind = Kind::read;
  std::string sign;           // with what stands before it: 2>, &>>, {name}<
  Word target;                // of read, write and <<<
  std::string body;           // of <<< and here-documents, where bash leaves it as it is
  bool literal_body = false;  // it does, and body is known
  bool appends = false;       // >> and <>
};

struct SimpleCommand {
  std::vector<Assignment> assignments;
  std::vector<Word> words;
  std::vector<Redirection> redirections;
  bool of_compound = false;  // redirections behind a group or loop; there are no words
};

// One token of the text around its simple commands, or one of these commands.
struct Joint {
  std::string_view sign;    // ; & && || | |& ! time newline ( ) { }; empty: a command
  std::size_t command = 0;  // of Script::commands; after ) and }: the redirections of the group
};

struct Script {
  std::vector<SimpleCommand> commands;
  std::vector<Joint> joints;               // in the order of the text
  bool compound = false;                   // there is more than joints can express: loops, [[ …
  std::vector<Assignment> loops;           // what the variables of `for` go through
  std::set<std::string> arithmetic_names;  // variables whose value is evaluated as arithmetic
  std::set<std::string> counted_names;     // those of them that arithmetic sets to a number
  std::set<std::string> early_names;       // those of them that may still have an older value
  std::set<std::string> unsure_names;      // variables that get values nobody can foresee
  std::set<std::string> array_names;       // variables that are arrays
  bool bash_only = false;                  // it has signs that another shell reads differently
  std::vector<std::string> doubts;         // why bash might do something else: one sentence each
  std::optional<std::string> over_limit;   // the limit that stopped the reading
};

Script read(std::string_view text);

// The words of a text without operators, expansions or patterns, as in a rule; nothing when it has
// any. A last word `*` counts as a pattern.
std::optional<std::vector<std::string>> plain_words(std::string_view text);

// Bash reads characters of the locale: it may cut what is no UTF-8 in another place.
bool is_utf8(std::string_view text);

// A word as a person would type it.
std::string quoted(std::string_view value);

}  // namespace agentrt::policy::shell
