// Shells and bash builtins.
#include <algorithm>

#include "policy/shell/findings.h"
#include "policy/shell/variables.h"

namespace agentrt::policy::shell {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
         });
}

// bash [options] -c TEXT, bash [options] FILE, bash.
void shell_program(std::string_view program, const Args& args, Findings& out) {
  bool text_follows = false;
  std::size_t at = 1;
  for (; at < args.size(); ++at) {
    const Arg& arg = args[at];
    if (!arg.known) {
      if (text_follows)
        return out.runs(at,
                        "the command line of " + args[0].text + " -c is known only at run time");
      return out.runs(kNoWord, "what " + args[0].text + " runs is known only at run time");
    }
    if (arg.is("--version") && args.size() == 2) return;
    if (arg.is("--") || arg.is("-")) {
      ++at;
      break;
    }
    if (!arg.text.starts_with('-') && !arg.text.starts_with('+')) break;
    if (arg.text.starts_with("--") || arg.text.find_first_of("iloOsrD") != std::string::npos)
      out.runs(arg.text.starts_with("--") || arg.text.contains('s') ? kNoWord : at,
               "the option " + arg.text + " changes what " + args[0].text + " runs");
    if (arg.text.starts_with('-') && arg.text.contains('c')) text_follows = true;
    if (arg.text.find_first_of("oO") != std::string::npos) ++at;
  }
  if (at >= args.size())
    return out.runs(kNoWord,
                    args[0].text + " runs the commands that it reads from its standard input");
  if (!text_follows) return out.runs_script(at, args[0].text + " runs the script " + args[at].text);
  if (!args[at].known)
    return out.runs(at, "the command line of " + args[0].text + " -c is known only at run time");
  out.texts.push_back({at, args[at].text});
  if (!one_of(program, "sh bash dash ash"))
    out.runs(at, args[0].text + " has a syntax of its own, which is not analysed");
}

// trap TEXT SIGNAL…, eval WORDS…
void text_builtin(std::string_view program, const Args& args, Findings& out) {
  std::size_t at = 1;
  if (at < args.size() && args[at].is("--")) ++at;
  if (program == "trap") {
    if (at >= args.size() || args[at].is("-l") || args[at].is("-p") || args[at].is("-") ||
        args[at].is(""))
      return;
    if (!args[at].known) return out.runs(kNoWord, "what trap runs is known only at run time");
    return out.texts.push_back({at, args[at].text});
  }
  std::string text;
  for (std::size_t i = at; i < args.size(); ++i) {
    if (!args[i].known) return out.runs(kNoWord, "what eval runs is known only at run time");
    text += (i > at ? " " : "") + args[i].text;
  }
  if (!text.empty()) out.texts.push_back({at, std::move(text)});
}

// Checks a name that a builtin evaluates: a subscript can run a command, and some variables change
// how bash behaves.
void evaluated_name(const Args& args, std::string_view name, bool known, Findings& out) {
  if (!known || name.contains('['))
    return out.runs(kNoWord, "a name that " + args[0].text + " evaluates may run a command");
  if (const auto why = steers(std::string(name))) out.runs(kNoWord, *why);
}

// The options of a builtin that sets variables.
struct NameOptions {
  std::string_view valued;  // letters that take a value
  std::string_view named;   // those whose value is a variable name
  enum class Rest { names, values, name_after_text } rest = Rest::names;
};

// Checks every variable name among the arguments. An argument that may be an option or several
// words hides names.
void names_among(const Args& args, const NameOptions& options, Findings& out) {
  const auto computed = [&] {
    out.runs(kNoWord, "a name that " + args[0].text + " evaluates may run a command");
  };
  std::size_t at = 1;
  for (; at < args.size() && args[at].option; ++at) {
    if (!args[at].known) return computed();
    const std::string& text = args[at].text;
    if (text == "--" && ++at) break;
    const std::size_t letter = text.find_first_of(options.valued, 1);
    if (options.valued.empty() || letter == std::string::npos) continue;
    const bool names = options.named.contains(text[letter]);
    if (letter + 1 < text.size()) {
      if (names) evaluated_name(args, text.substr(letter + 1), true, out);
    } else if (++at < args.size()) {
      if (!args[at].single) return computed();
      if (names) evaluated_name(args, args[at].text, args[at].known, out);
    }
  }
  for (std::size_t first = at; at < args.size(); ++at) {
    if (options.rest == NameOptions::Rest::values) continue;
    const bool name = options.rest == NameOptions::Rest::names || at == first + 1;
    if (!args[at].single && (name || at == first)) return computed();
    if (name) evaluated_name(args, args[at].text, args[at].known, out);
  }
}

// Whether a printf format has %n, which sets the variable named by its argument.
bool sets_count(std::string_view format) {
  for (std::size_t at = format.find('%'); at < format.size(); at = format.find('%', at + 1)) {
    if (++at < format.size() && format[at] == '%') continue;
    at = std::min(format.find_first_not_of("0123456789#-+ '.*hlLjtzq$", at), format.size());
    if (at < format.size() && format[at] == 'n') return true;
  }
  return false;
}

void printf_builtin(const Args& args, Findings& out) {
  std::size_t at = 1;
  if (at < args.size() && args[at].option && !args[at].is("--") &&
      !(args[at].known && !args[at].text.starts_with("-v")))
    return out.runs(kNoWord, "printf -v sets a variable, which is not analysed");
  if (at < args.size() && args[at].is("--")) ++at;
  if (at >= args.size() || (args[at].known && !sets_count(args[at].text))) return;
  for (std::size_t i = at + 1; i < args.size(); ++i) {
    const bool steering = args[i].known && steers(args[i].text, Value::number);
    if (steering || !args[i].known)
      return out.runs(kNoWord, "%n of printf sets a variable, which is not analysed");
  }
  if (args[at].many) out.runs(kNoWord, "%n of printf sets a variable, which is not analysed");
}

// jobs -x runs its remaining words.
void jobs_builtin(const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (!args[i].known && args[i].option)
      return out.runs(
          kNoWord,
          "a word that is known only at run time may be -x, with which jobs runs a command");
    if (!args[i].known || !args[i].text.starts_with('-') || !args[i].text.contains('x')) continue;
    out.runs(i, "jobs -x runs a command");
    if (i + 1 < args.size())
      out.commands.push_back(
          {i + 1, Args(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end())});
    return;
  }
}

void test_builtin(const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i) {
    const bool asks_name = args[i].is("-v") || args[i].is("-R");
    const bool may_ask = !args[i].known && args[i].option;
    const Arg* next = i + 1 < args.size() ? &args[i + 1] : nullptr;
    const bool subscript = next && (!next->known || next->text.contains('['));
    if ((asks_name && next && !(next->known && is_name(next->text))) ||
        (may_ask && (!args[i].single || subscript)))
      out.runs(kNoWord, "-v evaluates the name that it is given");
  }
}

void set_builtin(const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string& text = args[i].text;
    const bool flags = args[i].known && text.size() > 1 && (text[0] == '-' || text[0] == '+') &&
                       text.find_first_not_of("euxvfnCEo", 1) == std::string::npos;
    const bool name = i > 1 && args[i].known &&
                      one_of(text, "pipefail errexit nounset xtrace verbose noclobber noglob");
    if (!flags && !name)
      out.doubts.push_back("set with " + text + " changes how bash parses commands");
  }
}

// declare, export, local, readonly, typeset: checks the assignments among the arguments.
void declare_builtin(std::string_view program, const Args& args, Findings& out) {
  bool exports = program == "export";
  const bool arrays = std::ranges::any_of(
      args, [](const Arg& arg) { return arg.option && arg.text.contains('a'); });
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (arg.known && arg.option) {
      if (arg.text.find_first_of("infFA", 1) != std::string::npos)
        out.runs(kNoWord, arg.text + " gives a variable attributes that are not analysed");
      exports = exports || arg.text.contains('x');
      continue;
    }
    const std::size_t equals = arg.text.find('=');
    const std::string name = arg.text.substr(0, equals);
    if (!is_name(name)) {
      out.runs(kNoWord, "a name that " + args[0].text + " evaluates may run a command");
      continue;
    }
    // A value in parentheses is an array, quoted or not.
    if (equals != std::string::npos &&
        (arg.known ? arg.text.substr(equals + 1).starts_with('(') : arrays))
      out.runs(kNoWord, args[0].text + " evaluates the array " + name);
    Assignment given{.name = name, .value = {}, .exported = exports};
    if (equals == std::string::npos)
      given.value.pieces.push_back({Piece::Kind::computed, {}, Quoting::quoted});
    else
      given.value.pieces.push_back({arg.known ? Piece::Kind::text : Piece::Kind::computed,
                                    arg.text.substr(equals + 1), Quoting::quoted});
    out.exported.push_back(std::move(given));
  }
}

}  // namespace

bool find_in_shells(std::string_view program, const Args& args, Findings& out) {
  if (!one_of(program, "sh bash dash ash rbash zsh ksh mksh fish csh tcsh pwsh")) return false;
  shell_program(program, args, out);
  return true;
}

bool find_in_builtins(std::string_view program, const Args& args, Findings& out) {
  if (program == "eval" || program == "trap") {
    text_builtin(program, args, out);
  } else if (program == "source" || program == ".") {
    if (args.size() > 1 && args[1].known)
      out.runs_script(1, program == "." ? ". runs a file" : "source runs a file");
    else
      out.runs(kNoWord, "the file that it runs is known only at run time");
  } else if (program == "test" || program == "[") {
    test_builtin(args, out);
  } else if (program == "set") {
    set_builtin(args, out);
  } else if (one_of(program, "declare typeset local export readonly")) {
    declare_builtin(program, args, out);
  } else if (program == "read") {
    names_among(args, {"adinNptu", "a"}, out);
  } else if (program == "unset") {
    names_among(args, {}, out);
  } else if (program == "getopts") {
    names_among(args, {.rest = NameOptions::Rest::name_after_text}, out);
  } else if (program == "wait") {
    names_among(args, {"p", "p", NameOptions::Rest::values}, out);
  } else if (program == "printf") {
    printf_builtin(args, out);
  } else if (program == "jobs") {
    jobs_builtin(args, out);
  } else if (program == "let") {
    out.runs(kNoWord, "let evaluates its words, which may run a command");
  } else if (program == "hash") {
    if (args.size() > 1) out.doubts.push_back("hash changes which program a name refers to");
  } else if (program == "shopt" || program == "enable") {
    if (args.size() > 1)
      out.doubts.push_back(std::string(program) + " changes how bash parses commands");
  } else if (one_of(program, "mapfile readarray") && args.size() == 3 && args[1].is("-t") &&
             args[2].known && is_name(args[2].text)) {
    evaluated_name(args, args[2].text, true, out);
  } else if (one_of(program,
                    "alias unalias bind complete compopt fc history mapfile readarray "
                    "compgen")) {
    if (args.size() > 1)
      out.runs(kNoWord, std::string(program) + " can make bash run other commands");
  } else {
    return false;
  }
  return true;
}

}  // namespace agentrt::policy::shell
