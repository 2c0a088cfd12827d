// policy/shell/tools/option_table.h: the options of one program, and its arguments read by them.
//
// A table lists every option with which the program does its own job, and those that go beyond it:
// they write a file or run a program. An option in neither list is a hazard too: nobody knows what
// it does, nor whether the next word is its value. Long options may be abbreviated as GNU programs
// and git allow.
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
  gnu,             // bundles of letters and long options, anywhere among the operands
  before_operand,  // the same, and the first operand ends them
  words,           // whole words behind one or two dashes: -run=x, -run x
  words_before_operand,
  separate,  // as gnu, but the value of a letter is always the next word
};

// Options are separated by spaces. In `valued`, "?" after a letter means an optional value, which
// is attached. In `longs` and `hazards`, "=" after a name means a value, attached or in the next
// word, and "?" an optional one. In `hazards`, "!" before a name means that it runs something, "~"
// that the value "-" is harmless, "^" that a value without dots and slashes is. "*" at the end of a
// long name stands for any rest; alone, and in `flags`, it accepts what is not listed.
struct OptionTable {
  std::string_view names;    // of the programs, or of the subcommands
  std::string_view flags;    // letters without a value
  std::string_view valued;   // letters with one, hazards included
  std::string_view longs;    // long options; with OptionStyle::words all options, dashes included
  std::string_view hazards;  // with dashes: -o, --output=, !-exec=
  OptionStyle style = OptionStyle::gnu;
  std::string_view also = {};  // further longs, shared by several tables
};

struct OptionUse {
  std::size_t word = 0;              // the option
  char letter = 0;                   // of a short one
  std::string_view name;             // of a long one, in full
  std::size_t value_word = kNoWord;  // where its value is; kNoWord: it has none
  Arg value;

  bool is(char short_name, std::string_view long_name) const {
    return letter != 0 ? letter == short_name : name == long_name;
  }
};

struct OptionReading {
  std::vector<OptionUse> uses;        // of options that the table has
  std::vector<std::size_t> operands;  // indices of words
  bool certain = true;                // false: an operand may stand elsewhere, or be something else
  bool unknown = false;               // there is an option that the table does not have

  const OptionUse* find(char letter, std::string_view name) const;  // the first; null: none
};

// Reads `args` from `first` on; hazards go to `out`.
OptionReading read_options(const OptionTable& table, const Args& args, std::size_t first,
                           Findings& out);

// The row for `name`; null when there is none.
const OptionTable* table_of(std::span<const OptionTable> tables, std::string_view name);

// Tables by the kind of programs.
std::span<const OptionTable> text_tables();     // coreutils, searching, paging, archives
std::span<const OptionTable> network_tables();  // transfers, clusters, databases
std::span<const OptionTable> build_tables();    // building, testing
std::span<const OptionTable> system_tables();   // packages, services, other languages
std::span<const OptionTable> kubectl_tables();  // by subcommand, as the next two
std::span<const OptionTable> docker_tables();
std::span<const OptionTable> git_tables();
std::span<const OptionTable> packager_tables();  // npm, pip, cargo and the like

// Programs that need more than a table; true when `program` is one of them.
bool find_in_compilers(std::string_view program, const Args& args, Findings& out);
bool find_in_runners(std::string_view program, const Args& args, Findings& out);  // npx, poetry run
bool find_in_cargo(std::string_view program, const Args& args, Findings& out);

// Subcommands that change how a program works, or that open others; the first operand is one.
void find_changers(std::string_view program, const OptionReading& reading, const Args& args,
                   Findings& out);

}  // namespace agentrt::policy::shell
