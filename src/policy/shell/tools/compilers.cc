// C and C++ compilers. They have too many options for a table, so options are recognised by prefix.
// Words passed on to linker or assembler are checked one by one.
#include <algorithm>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kNames =
    "gcc g++ cc c++ clang clang++ cpp gfortran gdc gccgo emcc em++ icx icpx";

// Options with a value in the next word.
constexpr std::string_view kValued =
    "-o -x -I -L -l -D -U -A -include -imacros -isystem -iquote -idirafter -iprefix -isysroot "
    "-iwithprefix -MF -MT -MQ -arch -target -framework -u -T -z -e -h -aux-info -rpath -Tbss "
    "-Tdata -Ttext --target --sysroot --param -G -b -V";

constexpr std::string_view kPlain =
    "-c -S -E -v -V -w -p -pg -P -C -CC -H -Q -s -r -n -N -t -M -MM -MD -MMD -MP -MG -MV -ansi "
    "-pedantic -pedantic-errors -pipe -static -static-pie -static-libgcc -static-libstdc++ -shared "
    "-shared-libgcc -rdynamic -pie -no-pie -pthread -pthreads -nostdlib -nostdlib++ -nostartfiles "
    "-nostdinc -nostdinc++ -nodefaultlibs -nolibc -symbolic -undef -remap -trigraphs -save-temps "
    "-time -### --version --help --verbose -traditional -traditional-cpp -coverage --coverage "
    "-dumpmachine -dumpversion -dumpfullversion -dumpspecs -dM -dD -dI -dN -dU -fsyntax-only";

// Prefixes of harmless families: warnings, code generation, machine, optimisation, debugging.
constexpr std::string_view kFamilies[] = {
    "-W",       "-f",        "-m",           "-O",  "-g",  "-std=", "--std=",
    "-D",       "-U",        "-I",           "-L",  "-l",  "-o",    "-print-",
    "-isystem", "-iquote",   "-include",     "-MF", "-MT", "-MQ",   "-x",
    "--help=",  "--target=", "-save-temps=", "-T",  "-u",  "-R",    "-stdlib="};

// Exceptions in these families: options that load or run something, or pass a word on.
constexpr std::string_view kDangers[] = {"-fplugin",   "-fpass-plugin",
                                         "-fuse-ld=",  "-fmodule-mapper",
                                         "-mllvm",     "-fprofile-instr",
                                         "-Wl,",       "-Wa,",
                                         "-Wp,",       "-flto=",
                                         "-fdump",     "-fmodule-file",
                                         "-fopt-info", "-fcrash-diagnostics",
                                         "-fthinlto"};

// Linker options that affect only the output.
constexpr std::string_view kLinker =
    "-rpath -rpath-link -soname -h -z --as-needed --no-as-needed --gc-sections --no-gc-sections "
    "--start-group --end-group -( -) -O1 -O2 -O0 -s -S -x --strip-all --strip-debug -Bstatic "
    "-Bdynamic -Bsymbolic -Bsymbolic-functions --whole-archive --no-whole-archive --no-undefined "
    "-E --export-dynamic --fatal-warnings --build-id --allow-multiple-definition --wrap "
    "--warn-common --sort-common --relax --no-relax --exclude-libs --enable-new-dtags "
    "--disable-new-dtags --no-allow-shlib-undefined --allow-shlib-undefined --icf -dead_strip "
    "-undefined dynamic_lookup -headerpad_max_install_names -install_name --hash-style --verbose "
    "-v --version --threads --no-threads --print-gc-sections --stats --trace -t --eh-frame-hdr "
    "--no-eh-frame-hdr -m --defsym -e --entry --subsystem -u --undefined --error-limit "
    "--color-diagnostics";

bool linker_words_are_plain(std::string_view words) {
  bool value = false;  // this word may be the value of the one before
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t comma = std::min(words.find(',', at), words.size());
    const std::string_view word = words.substr(at, comma - at);
    const std::string_view name = word.substr(0, word.find('='));
    const bool option = word.starts_with('-');
    if (word.starts_with('@') || (option && !one_of(name, kLinker)) || (!option && !value))
      return false;
    value = option && name == word;
    at = comma + 1;
  }
  return true;
}

// Whether an option only compiles.
bool is_plain(std::string_view text) {
  if (text == "-") return true;
  if (text.starts_with("-Wl,")) return linker_words_are_plain(text.substr(4));
  if (text == "-flto=auto" || text == "-flto=thin" || text == "-flto=full") return true;
  if (text.starts_with("-fuse-ld=")) return one_of(text.substr(9), "lld gold bfd mold");
  if (text.starts_with("-fprofile-instr-generate") && !text.contains('=')) return true;
  for (const std::string_view danger : kDangers)
    if (text.starts_with(danger)) return false;
  if (one_of(text, kPlain) || one_of(text, kValued)) return true;
  return std::ranges::any_of(kFamilies, [&](std::string_view f) { return text.starts_with(f); });
}

}  // namespace

bool find_in_compilers(std::string_view program, const Args& args, Findings& out) {
  // A version suffix, as in gcc-12 or clang++-19.
  const std::size_t dash = program.rfind('-');
  const bool versioned = dash != program.npos && dash + 1 < program.size() &&
                         program.find_first_not_of("0123456789.", dash + 1) == program.npos;
  const std::string_view plain = versioned ? program.substr(0, dash) : program;
  if (!one_of(plain, kNames)) return false;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known) {
      // A pattern such as *.c has a suffix that no option has.
      const bool source = arg.suffix.starts_with('.') && !arg.suffix.contains('/');
      if (arg.option && !source)
        out.runs(i, "the word " + arg.text + " is known only at run time and may be an option of " +
                        args[0].text);
      continue;
    }
    if (arg.text.starts_with('@'))
      out.runs(i, args[0].text + " takes options from the file " + arg.text.substr(1));
    else if (arg.text.starts_with('-') && !is_plain(arg.text))
      out.runs(i, arg.text + " makes " + args[0].text + " run programs or write files");
    if (one_of(arg.text, kValued) && i + 1 < args.size() && args[i + 1].single) ++i;
  }
  return true;
}

}  // namespace agentrt::policy::shell
