// policy/shell/syntax.h: parses a bash text into the simple commands that bash would run.
//
// read() parses a text as `/bin/bash -c` does and lists every simple command in it: in lists,
// pipelines, groups, loops, functions, substitutions and here-documents. The list is flat, because
// whether a command runs cannot be predicted, so each one counts. `joints` keeps the structure for
// canonical.h.
//
// A construct that this parser does not know, or that bash might parse differently, adds a doubt. A
// script with a doubt is never allowed by a prefix rule. The commands that were found still count,
// so a deny rule matches them. Parsing stops at the limits of limits.h.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::policy::shell {

enum class Quoting { none, quoted };

// A run of characters of a word, or an expansion.
struct Piece {
  enum class Kind {
    text,      // these characters; unquoted ones may be a pattern
    variable,  // $name, ${name}
    number,    // arithmetic, lengths, exit codes
    path,      // the path of a process substitution
    computed,  // anything else
  };
  Kind kind = Kind::text;
  std::string text;  // the characters, or the name of the variable
  Quoting quoting = Quoting::none;
  bool several = false;   // may become any number of words, even in quotes: "$@"
  bool negative = false;  // a number that may begin with '-'
  bool sure = false;      // the text has certainly set the variable before
};

struct Word {
  std::vector<Piece> pieces;
  std::string source;  // as it was written
};

// The value of a word that bash does not change. nullopt: it has patterns, braces, a leading tilde
// or expansions.
std::optional<std::string> literal(const Word& word);

struct Assignment {
  std::string name;
  Word value;
  bool exported = false;  // before a command, or in export
  bool plain = false;     // name=value without subscript, += or array
};

struct Redirection {
  enum class Kind { read, write, descriptor, here_text };
  Kind kind = Kind::read;
  std::string sign;           // operator with its prefix: 2>, &>>, {name}<
  Word target;                // for read, write and <<<
  std::string body;           // for <<< and here-documents; valid if literal_body
  bool literal_body = false;  // bash does not expand the body
  bool appends = false;       // >> and <>
};

struct SimpleCommand {
  std::vector<Assignment> assignments;
  std::vector<Word> words;
  std::vector<Redirection> redirections;
  bool of_compound = false;  // redirections after a group or loop; no words
};

// A simple command of the text, or an operator between them.
struct Joint {
  std::string_view sign;    // ; & && || | |& ! time newline ( ) { }; empty: a command
  std::size_t command = 0;  // index in Script::commands; after ) and }: the group's redirections
};

struct Script {
  std::vector<SimpleCommand> commands;
  std::vector<Joint> joints;               // in text order
  bool compound = false;                   // it contains more than joints can express: loops, [[ …
  std::vector<Assignment> loops;           // the values of `for` variables
  std::set<std::string> arithmetic_names;  // variables evaluated as arithmetic
  std::set<std::string> counted_names;     // of these: set to a number by arithmetic
  std::set<std::string> early_names;       // of these: may be evaluated before the text sets them
  std::set<std::string> unsure_names;      // variables with unpredictable values
  std::set<std::string> array_names;       // variables that are arrays
  bool bash_only = false;                  // another shell would parse it differently
  std::vector<std::string> doubts;         // why bash might run something else; one sentence each
  std::optional<std::string> over_limit;   // the exceeded limit
};

Script read(std::string_view text);

// The words of a text without operators, expansions or patterns, as in a rule. nullopt: it has any
// of these. A last word `*` counts as a pattern.
std::optional<std::vector<std::string>> plain_words(std::string_view text);

// Bash splits a text by characters of the locale, so it may parse invalid UTF-8 differently.
bool is_utf8(std::string_view text);

// A word with quotes where needed, as a person would type it.
std::string quoted(std::string_view value);

}  // namespace agentrt::policy::shell
