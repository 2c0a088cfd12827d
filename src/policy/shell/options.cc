// Programs judged by their option tables, and special cases that a table cannot express.
//
// The tables (policy/shell/tools) list what goes beyond a program's ordinary job: `cp` and `mkdir`
// write by nature, so that is no hazard.
#include <algorithm>
#include <array>

#include "policy/shell/findings.h"
#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

bool is_switch_value(std::string_view value) {
  return one_of(value, "ON OFF on off TRUE FALSE true false YES NO yes no y n Y N") ||
         value.find_first_not_of("0123456789.") == std::string_view::npos;
}

// --- operands ---

// Adds a hazard for operands that the program writes to.
void written_operands(std::string_view program, const OptionReading& reading, const Args& args,
                      Findings& out) {
  for (std::size_t i = 0; i < reading.operands.size(); ++i) {
    const std::size_t word = reading.operands[i];
    if (one_of(program, "uniq xxd split") && (i == 1 || !args[word].single))
      out.writes(word, std::string(program) + " writes to its second operand");
    if (program == "hostname") out.writes(word, "hostname with an argument changes the host name");
    if (program == "date" && !args[word].text.starts_with('+'))
      out.writes(word, "date with this argument sets the clock");
  }
}

// make A=b: harmless only if the value names no program.
void make_variables(const OptionReading& reading, const Args& args, Findings& out) {
  for (const std::size_t word : reading.operands) {
    const Arg& arg = args[word];
    if (!arg.known)
      out.runs(word, "a word that is known only at run time can set any variable of make");
    else if (const std::size_t equals = arg.text.find('=');
             equals != std::string::npos && !is_switch_value(arg.text.substr(equals + 1)))
      out.runs(word, "a variable on the command line of make can name any program");
  }
}

// Programs that read more options from a file, named after @.
constexpr std::string_view kResponseFiles =
    "nm objdump readelf strings size addr2line c++filt strip objcopy ranlib ar gcc-nm gcc-ar "
    "gcc-ranlib llvm-nm llvm-objdump llvm-ar rustc javac jar javadoc clang-format clang-tidy mypy "
    "protoc pytest py.test tsc dotnet exiftool ld ld.lld ld.gold ld.bfd gold mold lld";

void response_files(const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i)
    if (args[i].text.starts_with('@'))
      out.runs(i, args[0].text + " takes options from the file " + args[i].text.substr(1));
}

// --- one program each ---

// tar cIf PROGRAM ARCHIVE: the first word is a bundle without a dash; the values follow in order.
void tar(const OptionTable& table, const Args& args, Findings& out) {
  Args rest = args;
  const bool bundle = args.size() > 1 && args[1].known && !args[1].option;
  if (bundle) rest[1] = known_arg("-" + args[1].text);
  OptionTable first = table;
  first.style = OptionStyle::separate;
  std::vector<OptionUse> uses;
  std::size_t from = 1;
  if (bundle) {
    const OptionReading reading = read_options(first, Args(rest.begin(), rest.begin() + 2), 1, out);
    from = 2;
    for (OptionUse use : reading.uses) {
      if (!table.valued.contains(use.letter)) continue;
      if (from < args.size()) use.value = args[from];
      use.value_word = from++;
      uses.push_back(std::move(use));
    }
  }
  const OptionReading reading = read_options(table, args, std::min(from, args.size()), out);
  uses.insert(uses.end(), reading.uses.begin(), reading.uses.end());
  const bool local =
      std::ranges::any_of(uses, [](const OptionUse& use) { return use.name == "--force-local"; });
  for (const OptionUse& use : uses)
    if (use.is('f', "--file") && !local && (use.value.text.contains(':') || use.value.option) &&
        !use.value.is("-"))
      out.runs(std::min(use.value_word, args.size() - 1),
               "tar runs a program to reach an archive on another machine");
}

void curl(const OptionReading& reading, const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i)
    if (args[i].text.contains("%output")) out.writes(i, "%output makes curl write a file");
  for (const OptionUse& use : reading.uses)
    if (use.is('w', "--write-out") && use.value.text.starts_with('@'))
      out.writes(
          use.word,
          "the output format of curl comes from a file, which can make curl write other files");
}

// less: a + and text after a $ in a value can be commands and options.
void pager(const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i)
    if (args[i].text.starts_with('+') ||
        (args[i].text.starts_with('-') && args[i].text.contains('$')))
      out.runs(i, args[i].text + " makes " + args[0].text + " run programs or write files");
}

void cmake(const OptionReading& reading, const Args& args, Findings& out) {
  for (const OptionUse& use : reading.uses) {
    if (use.letter != 'D') continue;
    const std::string_view text = use.value.text;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, std::min(text.find(':'), equals));
    const std::string_view value = equals < text.size() ? text.substr(equals + 1) : "";
    const bool type = one_of(name, "CMAKE_BUILD_TYPE CMAKE_CONFIGURATION_TYPES") &&
                      one_of(value, "Debug Release RelWithDebInfo MinSizeRel");
    if (!use.value.known || (!type && !is_switch_value(value)))
      out.runs(use.word, "a variable on the command line of cmake can name any program");
  }
  bool tail = false;
  for (std::size_t i = 2; i < args.size(); ++i) {
    const bool plain = args[i].known && !args[i].text.contains('=') &&
                       (args[i].text.starts_with("-j") || !args[i].option);
    if (tail && !plain) out.runs(i, "what follows -- goes to the build program");
    tail = tail || args[i].is("--");
  }
}

// Whether the flags are only -X name=value, -s and -w.
bool harmless_ldflags(std::string_view flags) {
  bool value = false;
  for (std::size_t at = 0; at < flags.size();) {
    const std::size_t space = std::min(flags.find(' ', at), flags.size());
    const std::string_view word = flags.substr(at, space - at);
    at = space + 1;
    if (word.empty()) continue;
    if (!value && !one_of(word, "-s -w -X")) return false;
    if (value && (word.starts_with('-') || word.find_first_of("'\"\\") != word.npos)) return false;
    value = word == "-X";
  }
  return !value;
}

// go run PACKAGE words…, go test -args words…: these words go to the built program.
void go(const OptionTable& table, const Args& args, Findings& out) {
  const auto own_end = std::ranges::find_if(
      args, [](const Arg& arg) { return arg.is("-args") || arg.is("--args"); });
  const Args own(args.begin(), own_end);
  Findings found;
  const OptionReading reading = read_options(table, own, 1, found);
  std::size_t last = own.size();
  if (reading.operands.size() > 1 && own[reading.operands[0]].is("run")) last = reading.operands[1];
  for (Hazard& hazard : found.hazards) {
    const bool ldflags = std::ranges::any_of(reading.uses, [&](const OptionUse& use) {
      return use.word == hazard.word && use.name == "-ldflags" && use.value.known &&
             harmless_ldflags(use.value.text);
    });
    if ((hazard.word <= last || hazard.word == kNoWord) && !ldflags)
      out.hazards.push_back(std::move(hazard));
  }
  find_changers("go", reading, own, out);
  const bool env = !reading.operands.empty() && own[reading.operands[0]].is("env");
  for (const Arg& arg : own)
    if (env && (arg.is("-w") || arg.is("-u")))
      out.runs(kNoWord, "go env changes settings that can make go run programs");
}

void pytest(const OptionReading& reading, Findings& out) {
  for (const OptionUse& use : reading.uses) {
    const bool off = use.value.known && use.value.text.starts_with("no:");
    if (use.letter == 'p' && !off) out.runs(use.word, "pytest loads a plugin");
    const bool report = use.name == "--cov-report";
    if (report && !(use.value.known && use.value.text.starts_with("term")))
      out.writes(use.word, "pytest writes this report to a file");
  }
}

// psql, mysql and similar programs run commands from their standard input.
void database(const OptionReading& reading, Findings& out) {
  const auto given = [&](char letter, std::string_view name) {
    return reading.find(letter, name) != nullptr;
  };
  if (!given('c', "--command") && !given('f', "--file") && !given('l', "--list") &&
      !given('e', "--execute") && !given('V', "--version"))
    out.runs(kNoWord, "it runs the commands that it reads from its standard input");
}

// --- programs with subcommands ---

constexpr OptionTable kKubectlGlobal{
    "",
    "",
    "nv",
    "--namespace= --context= --cluster= --user= --v= --request-timeout=",
    "!--kubeconfig= --cache-dir= --profile* --log-* !-s !--server= !--token=",
    OptionStyle::before_operand};
constexpr OptionTable kDockerGlobal{"",
                                    "Dv",
                                    "cHl",
                                    "--debug --log-level=",
                                    "!-c !--context= !-H !--host= !--config= !--tls*",
                                    OptionStyle::before_operand};

void subcommands(std::string_view program, const Args& args, Findings& out) {
  const bool docker = program != "kubectl";
  const OptionReading global = read_options(docker ? kDockerGlobal : kKubectlGlobal, args, 1, out);
  if (global.operands.empty()) return;
  std::size_t at = global.operands[0];
  // The form `docker container ls`.
  if (docker && at + 1 < args.size() && args[at].known &&
      one_of(args[at].text, "container image volume network system builder manifest"))
    ++at;
  if (!global.certain || !args[at].known)
    return out.runs(kNoWord,
                    "which subcommand of " + args[0].text + " runs is known only at run time");
  const OptionTable* table = table_of(docker ? docker_tables() : kubectl_tables(), args[at].text);
  OptionReading reading;
  if (table) reading = read_options(*table, args, at + 1, out);
  if (!table && !docker && !one_of(args[at].text, "plugin help"))
    out.runs(at, "kubectl runs another program for " + args[at].text);
  for (const OptionUse& use : reading.uses)
    if (one_of(use.name, "--network --net") && use.value.is("host"))
      out.runs(use.word, "the container shares the network of the host");
  reading.operands.insert(reading.operands.begin(), at);
  find_changers(program, reading, args, out);
}

const OptionTable* find_table(std::string_view program) {
  for (const auto tables :
       {text_tables(), build_tables(), network_tables(), packager_tables(), system_tables()})
    if (const OptionTable* table = table_of(tables, program)) return table;
  return nullptr;
}

void special(std::string_view program, const OptionReading& reading, const Args& args,
             Findings& out) {
  if (program.ends_with("make") && program != "cmake") make_variables(reading, args, out);
  if (program == "curl") curl(reading, args, out);
  if (one_of(program, "less more most")) pager(args, out);
  if (program == "cmake") cmake(reading, args, out);
  if (one_of(program, "pytest py.test")) pytest(reading, out);
  if (one_of(program, "psql mysql mariadb")) database(reading, out);
  if (program == "zip")
    for (std::size_t i = 1; i < args.size(); ++i)
      if (args[i].text.starts_with("-lf")) out.writes(i, "zip writes its log to a file");
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (program == "ip" && (args[i].is("exec") || !args[i].known))
      out.runs(i, "ip exec runs a program");
    if (program == "mlr" && args[i].known && one_of(args[i].text, "put filter tee split case"))
      out.runs(i, "mlr " + args[i].text + " can run programs and write files");
  }
  if (program == "gh")
    for (std::size_t i = 1; i + 1 < args.size(); ++i)
      if (args[i].is("--")) out.runs(i, "what follows -- goes to git");
}

}  // namespace

bool one_of(std::string_view name, std::string_view words) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t space = std::min(words.find(' ', at), words.size());
    if (words.substr(at, space - at) == name) return true;
    at = space + 1;
  }
  return false;
}

bool find_in_options(std::string_view program, const Args& args, Findings& out) {
  for (const auto find : {find_in_compilers, find_in_runners, find_in_cargo})
    if (find(program, args, out)) return true;
  if (one_of(program, "kubectl docker podman")) {
    subcommands(program, args, out);
    return true;
  }
  const OptionTable* table = find_table(program);
  if (!table) return true;
  if (program == "go") {
    go(*table, args, out);
  } else if (one_of(program, "tar gtar bsdtar")) {
    tar(*table, args, out);
  } else {
    const OptionReading reading = read_options(*table, args, 1, out);
    written_operands(program, reading, args, out);
    find_changers(program, reading, args, out);
    special(program, reading, args, out);
  }
  if (one_of(program, kResponseFiles)) response_files(args, out);
  return true;
}

}  // namespace agentrt::policy::shell
