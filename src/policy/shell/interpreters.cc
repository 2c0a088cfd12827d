// Programs that run code from a file, an argument or their input.
//
// Running a file is a hazard of the word that names it, so `shell(python3 tool.py:*)` covers it and
// `shell(python3:*)` does not.
#include <algorithm>
#include <array>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {
namespace {

struct Interpreter {
  std::string_view names;
  std::string_view plain;   // letters of harmless options
  std::string_view valued;  // the same, with a value in the next word
  std::string_view code;    // letters whose value is code or a module
  // Of these: the code replaces a script, so operands are its arguments.
  std::string_view whole;
  std::string_view longs = {};  // harmless long options
};

constexpr std::array kInterpreters = {
    Interpreter{"python", "BEIOPRSbdqsuvx", "WX", "cm", "cm"},
    Interpreter{"perl", "wWtTXsSc", "", "eEMmpnI", "eE"},
    Interpreter{"ruby", "wWvc", "", "erI", "e"},
    Interpreter{"node nodejs", "", "", "epr", "ep",
                "--test --test-only --check --watch --no-warnings --trace-warnings "
                "--trace-deprecation --no-deprecation --enable-source-maps --test-name-pattern "
                "--test-reporter --test-concurrency --test-timeout --max-old-space-size "
                "--stack-trace-limit --experimental-strip-types --experimental-vm-modules "
                "--experimental-test-coverage --expose-gc --unhandled-rejections"},
    Interpreter{"deno bun ts-node tsx", "", "", "epr", "ep"},
    Interpreter{"php", "", "", "rBRFE", "rRF"},
    Interpreter{"lua luajit", "vW", "", "el", "e"},
    Interpreter{"tclsh wish jimsh xsltproc", "", "", "", ""},
    Interpreter{"Rscript R julia guile racket sbcl clisp ocaml ghci runghc runhaskell osascript "
                "groovy scala kotlin swift elixir erl escript raku jshell java",
                "", "", "", ""},
    Interpreter{"gdb lldb ed ex vi vim vimdiff view rview rvim nvim emacs emacsclient nano pico "
                "joe dc m4 gnuplot ghostscript gs latex tex pdflatex octave maxima duckdb mongosh "
                "mongo clickhouse-client usql",
                "", "", "", ""},
};

bool only_asks_about_itself(const Args& args) {
  return args.size() == 2 && args[1].known &&
         one_of(args[1].text, "--version -V --help -h -version -v");
}

// Adds the hazards of `python -m MODULE` options, if the module is a known program.
void module_options(const Args& args, std::size_t word, Findings& out) {
  Findings more;
  find_in_options(args[word].text,
                  Args(args.begin() + static_cast<std::ptrdiff_t>(word), args.end()), more);
  for (Hazard& hazard : more.hazards) {
    if (hazard.word != kNoWord) hazard.word += word;
    out.hazards.push_back(std::move(hazard));
  }
}

// Finds the code, module or script. Every option before the script counts, even after one that a
// rule may name.
void interpreter(const Interpreter& kind, const Args& args, Findings& out) {
  if (only_asks_about_itself(args)) return;
  const std::string& program = args[0].text;
  bool whole = false;  // there is code, so operands are its arguments
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known && whole && !arg.option) return;
    if (!arg.known) return out.runs(kNoWord, "what " + program + " runs is known only at run time");
    if (arg.is("-") || (arg.is("--") && whole)) break;
    if (!arg.text.starts_with('-') && !arg.text.starts_with('+')) {
      if (!whole) out.runs_script(i, program + " runs the script " + arg.text);
      return;
    }
    if (arg.is("--test") && !kind.longs.empty()) whole = true;
    if (one_of(arg.text.substr(0, arg.text.find('=')), kind.longs)) continue;
    const std::size_t odd = arg.text.find_first_not_of(kind.plain, 1);
    if (arg.text.starts_with("--") || arg.text.size() < 2 || arg.text[0] == '+' ||
        (odd != std::string::npos && !kind.code.contains(arg.text[odd]) &&
         !kind.valued.contains(arg.text[odd]))) {
      out.runs(i, "the option " + arg.text + " of " + program + " is not analysed");
      continue;
    }
    if (odd == std::string::npos) continue;
    const std::size_t word = odd + 1 == arg.text.size() ? i + 1 : i;
    if (kind.code.contains(arg.text[odd])) {
      if (word >= args.size() || !args[word].known)
        return out.runs(kNoWord, "what " + program + " runs is known only at run time");
      out.runs(word, program + " runs the code or module of " + arg.text);
      if (kind.names == "python") return arg.is("-m") ? module_options(args, word, out) : void();
      whole = whole || kind.whole.contains(arg.text[odd]);
    }
    i = word;
  }
  if (!whole) out.runs(kNoWord, program + " runs the code that it reads from its standard input");
}

// sqlite3 [options] FILE SQL: only reading statements are harmless.
void sqlite(const Args& args, Findings& out) {
  if (only_asks_about_itself(args)) return;
  std::vector<std::size_t> operands;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (!args[i].known)
      return out.runs(kNoWord, "the statements of sqlite3 are known only at run time");
    if (!args[i].option)
      operands.push_back(i);
    else if (!one_of(args[i].text,
                     "-readonly -header -csv -json -line -column -list -noheader "
                     "-bail -batch -table -markdown -box -tabs"))
      out.runs(i, "the option " + args[i].text + " of sqlite3 is not analysed");
  }
  if (operands.size() < 2)
    return out.runs(kNoWord, "sqlite3 runs the statements that it reads from its standard input");
  for (std::size_t i = 1; i < operands.size(); ++i) {
    std::string sql = args[operands[i]].text;
    std::ranges::transform(sql, sql.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    });
    const std::size_t begin = std::min(sql.find_first_not_of(" \n\t"), sql.size());
    const std::string_view first = std::string_view(sql).substr(begin);
    const bool reads = first.starts_with("select ") || first.starts_with("explain ") ||
                       one_of(first, ".tables .schema .dbinfo .databases .indexes");
    const std::size_t semicolon = first.find(';');
    const bool more =
        semicolon != first.npos && first.find_first_not_of(" \n\t;", semicolon) != first.npos;
    if (!reads || more || first.contains("writefile") || first.contains("load_extension") ||
        first.contains("edit(") || first.contains("\n."))
      out.runs(operands[i], "the SQL statement does more than read");
  }
}

}  // namespace

bool find_in_interpreters(std::string_view program, const Args& args, Findings& out) {
  if (program == "sqlite3" || program == "sqlite") {
    sqlite(args, out);
    return true;
  }
  // Removes a version, as in python3.11.
  const std::string_view plain = program.substr(0, program.find_first_of("0123456789."));
  for (const Interpreter& kind : kInterpreters)
    if (one_of(program, kind.names) || (!plain.empty() && one_of(plain, kind.names))) {
      interpreter(kind, args, out);
      return true;
    }
  return false;
}

}  // namespace agentrt::policy::shell
