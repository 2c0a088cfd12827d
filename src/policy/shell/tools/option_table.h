// policy/shell/tools/option_table.h: tables of program options, and a parser that uses them.
//
// A table lists every ordinary option of a program, and the hazards: options that write a file or
// run a program. An option in neither list is a hazard too, because its effect is unknown, and also
// whether the next word is its value. Long options may be abbreviated, as in GNU programs and git.
//
// PURE. Safe on any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {

enum class OptionStyle {
  gnu,             // short options in bundles and long options, also after operands
  before_operand,  // the same, but options end at the first operand
  words,           // whole words after one or two dashes: -run=x, -run x
  words_before_operand,
  separate,  // as gnu, but the value of a short option is always the next word
};

// Options are separated by spaces. Suffixes: in `valued`, "?" after a letter means an optional,
// attached value. In `longs` and `hazards`, "=" after a name means a value, attached or in the next
// word; "?" means an optional one. Prefixes in `hazards`: "!" the option runs something; "~" the
// value "-" is harmless; "^" a value without dots and slashes is harmless. "*" at the end of a long
// name matches any rest; alone, or in `flags`, it accepts unlisted options.
struct OptionTable {
  std::string_view names;    // programs or subcommands
  std::string_view flags;    // short options without a value
  std::string_view valued;   // short options with a value, including hazards
  std::string_view longs;    // long options; with OptionStyle::words all options, with dashes
  std::string_view hazards;  // with dashes: -o, --output=, !-exec=
  OptionStyle style = OptionStyle::gnu;
  std::string_view also = {};  // more long options, shared by several tables
};

struct OptionUse {
  std::size_t word = 0;              // index of the option
  char letter = 0;                   // of a short option
  std::string_view name;             // of a long option, unabbreviated
  std::size_t value_word = kNoWord;  // index of the word with the value; kNoWord: none
  Arg value;

  bool is(char short_name, std::string_view long_name) const {
    return letter != 0 ? letter == short_name : name == long_name;
  }
};

struct OptionReading {
  std::vector<OptionUse> uses;        // uses of listed options
  std::vector<std::size_t> operands;  // indices of words
  // False: operands may be at other positions, or be option values.
  bool certain = true;
  bool unknown = false;  // there is an unlisted option

  const OptionUse* find(char letter, std::string_view name) const;  // the first use; null: none
};

// Parses `args` from index `first`. Adds hazards to `out`.
OptionReading read_options(const OptionTable& table, const Args& args, std::size_t first,
                           Findings& out);

// The table that lists `name`; null: none.
const OptionTable* table_of(std::span<const OptionTable> tables, std::string_view name);

// Tables by kind of program.
std::span<const OptionTable> text_tables();     // coreutils, searching, paging, archives
std::span<const OptionTable> network_tables();  // transfers, clusters, databases
std::span<const OptionTable> build_tables();    // building, testing
std::span<const OptionTable> system_tables();   // packages, services, other languages
std::span<const OptionTable> kubectl_tables();  // by subcommand, like the next two
std::span<const OptionTable> docker_tables();
std::span<const OptionTable> git_tables();
std::span<const OptionTable> packager_tables();  // npm, pip, cargo and the like

// For programs that need more than a table. Returns whether `program` is one of them.
bool find_in_compilers(std::string_view program, const Args& args, Findings& out);
bool find_in_runners(std::string_view program, const Args& args, Findings& out);  // npx, poetry run
bool find_in_cargo(std::string_view program, const Args& args, Findings& out);

// Adds a hazard if the first operand is a subcommand that changes the program's configuration or
// starts another program.
void find_changers(std::string_view program, const OptionReading& reading, const Args& args,
                   Findings& out);

}  // namespace agentrt::policy::shell
