// Options that make a program write files or run others, where its own job is neither.
//
// The lists name what goes beyond the job, not what a program can do: `cp` and `mkdir` write by
// nature and are absent. Short options are found in bundles (-uo), long ones in abbreviations too
// (--outp), since GNU programs take both.
#include <algorithm>
#include <array>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {
namespace {

struct Program {
  std::string_view names;  // separated by spaces
  OptionList list;
};

// clang-format off
constexpr std::array kPrograms = {
    Program{"sort", {"kSTt", "-o --output !--compress-program"}},
    Program{"shuf", {"in", "-o --output"}},
    Program{"iconv", {"ft", "-o --output"}},
    Program{"tree", {"LPIo", "-o --output"}},
    Program{"split", {"abCln", "!--filter"}},
    Program{"csplit", {"nb", "-f --prefix -b --suffix-format"}},
    Program{"date", {"drfI", "-s --set"}},
    Program{"file", {"fmFPe", "-C --compile"}},
    Program{"hostname", {"", "-F --file -b --boot"}},
    Program{"tar gtar bsdtar",
            {"fbCTXgKLNVH", "!--to-command !--checkpoint-action !-I !--use-compress-program "
                            "!--rsh-command !--rmt-command !-F !--info-script "
                            "!--new-volume-script --index-file --volno-file -g "
                            "--listed-incremental"}},
    Program{"zip", {"bntx", "!-T !--unzip-command !-TT --logfile-path =-lf -O --output-file"}},
    Program{"rsync", {"BfMT", "!-e !--rsh !--rsync-path --log-file --write-batch "
                              "--only-write-batch !--config -M --remote-option"}},
    Program{"scp sftp", {"cFiJlPSoXDbR", "!-S !-o !-F !-D !-b"}},
    Program{"curl", {"AbCdeEFHmPQrtTuUwxXyYz",
                     "-o -O -J -D -c -K -T --output --output-dir --remote-name "
                     "--remote-name-all --remote-header-name --dump-header --cookie-jar --config "
                     "--trace --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save "
                     "--upload-file !--engine --create-dirs --ssl-sessions"}},
    Program{"wget", {"tTwQeBUDAR", "-O -o -a -P -i !-e --output-document --output-file "
                                 "--append-output --directory-prefix --input-file !--execute "
                                 "--config !--use-askpass --rejected-log --save-cookies "
                                 "--warc-file --warc-dedup --post-file --body-file --hsts-file"}},
    Program{"rg ripgrep", {"ABCefgmMjtTrEd", "!--pre !--hostname-bin"}},
    Program{"ag ack", {"ABCGm", "!--pager --output !--filter"}},
    Program{"less more most", {"bhjpPtTxyz", "-o -O -k --log-file --LOG-FILE --lesskey-file "
                                             "--lesskey-src !=+ -T !--lesskey-content"}},
    Program{"man", {"CLmMSsEr", "!-P !--pager !-H !--html !-C !--config-file !--preprocessor "
                                "!-p !-X !--gxditview !-T !--troff-device"}},
    Program{"bat batcat delta", {"", "!--pager !--diff-so-fancy"}},
    Program{"fzf", {"", "!--preview !--bind !--listen"}},
    Program{"openssl", {"", "=-out =-keyout =-writerand !=-engine !=-provider !=-provider-path "
                            "!=-config =-CAcreateserial =-CAserial =-noout-file =-sess_out "
                            "=-keylogfile =-pass =-passin =-passout !engine !=-extfile"}},
    Program{"ctags etags", {"IKLhTeilNDUVw", "-o -f --output !--options !-L !--filter "
                                        "!--optlib-dir !--data-dir !--_interactive"}},
    Program{"make gmake bmake",
            {"jlCIoW", "!-f !--file !--makefile !--eval !-I !--include-dir "
                       "!-E !--environment-overrides"}},
    Program{"ninja samu", {"jkldC", "!-f !-t"}},
    Program{"just", {"", "!-f !--justfile !--shell !--shell-command !-c !--command !--set "
                         "!--working-directory !-d"}},
    Program{"cmake", {"SBGTADU", "!-P !-E !-C !--toolchain !--graphviz --trace-redirect "
                                 "--profiling-output !-D !--preset"}},
    Program{"ctest", {"jRELIOCTAMST", "!-S !-SP !--script !-D !-M !-T !--build-and-test -O "
                                      "--output-log --output-junit !--extra-submit "
                                      "!--test-command !--launch-test"}},
    Program{"npm pnpm yarn",
            {"", "!--script-shell !--node-options !--prefix !-C !--dir !--cwd !--userconfig "
                 "!--globalconfig !--shell !--call !-c !--use-yarnrc !--git !--editor !--viewer "
                 "!--init-module !--onload-script"}},
    Program{"npx bunx", {"p", "!-c !--call !--shell !--node-arg !-n !--userconfig !--prefix "
                              "!--node-options --outFile --outDir --declarationDir "
                              "--tsBuildInfoFile --generateTrace --generateCpuProfile"}},
    Program{"cargo", {"pjF", "!--config !-C !-Z --out-dir --artifact-dir"}},
    Program{"go", {"", "!=-exec !=-toolexec !=-vettool !=-overlay !=-modfile =-o =-coverprofile "
                       "=-cpuprofile =-memprofile =-blockprofile =-mutexprofile =-trace "
                       "=-outputdir =-testlogfile =-c !=-C !=-ldflags !=-gcflags !=-asmflags "
                       "!=-gccgoflags =-w =-test.cpuprofile =-fuzzcachedir !=-compiler "
                       "=-json-output =-pgo =-gocoverdir =-test.gocoverdir"}},
    Program{"pytest py.test", {"kmnW", "!-p !-c !--rootdir !--confcutdir --basetemp -o "
                                       "--override-ini --junitxml --junit-xml --resultlog "
                                       "!--pdbcls --debug --log-file --cov-report "
                                       "--html --report-log !--pastebin"}},
    Program{"gcc g++ cc c++ clang clang++",
            {"", "!=-wrapper !=-fplugin !=-specs !=--specs !=-B !=-load !=-Xclang !=-fuse-ld"}},
    Program{"jq", {"", ""}},
    Program{"yq", {"", "-i --inplace -w -s --split-exp"}},
    Program{"xmllint", {"", "--output =-o"}},
    Program{"diff sdiff", {"", "-o !--diff-program"}},
    Program{"patch", {"", "!-e !--ed -o --output"}},
    Program{"install", {"gmotS", "!--strip-program"}},
    Program{"nc ncat netcat", {"ipqswxX", "!-e !-c !--exec !--sh-exec !--lua-exec -o --output "
                                          "-x --hex-dump"}},
    Program{"gh", {"", "!--web !-w !=alias !=extension"}},
    Program{"docker podman", {"", "!--config"}},
    Program{"tail", {"cns", ""}},
    Program{"mysql mariadb", {"", "!-e !--execute --tee !--pager !--init-command"}},
    Program{"psql", {"", "!-c !--command !-f !--file -o --output -L --log-file"}},
};
// clang-format on

// One entry of a list, taken apart.
struct Option {
  std::string_view name;
  Hazard::Kind kind = Hazard::Kind::writes;
  bool exact = false;
};

Option next_option(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  Option out{.name = rest.substr(0, end)};
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (out.name.starts_with('!')) {
    out.kind = Hazard::Kind::runs;
    out.name.remove_prefix(1);
  }
  if (out.name.starts_with('=')) {
    out.exact = true;
    out.name.remove_prefix(1);
  }
  return out;
}

bool matches_exact(std::string_view word, std::string_view name) {
  if (name == "+") return word.starts_with('+');
  if (word.starts_with("--")) word.remove_prefix(1);
  if (name.starts_with("--")) name.remove_prefix(1);
  return word == name || (word.starts_with(name) && word.substr(name.size()).starts_with('='));
}

bool matches_long(std::string_view word, std::string_view name) {
  const std::string_view given = word.substr(0, word.find('='));
  return given.size() > 2 && given.starts_with("--") && name.starts_with(given);
}

// A letter of a bundle, unless an option before it takes the rest as its value.
bool matches_short(std::string_view word, char letter, std::string_view valued) {
  if (word.size() < 2 || word[0] != '-' || word[1] == '-') return false;
  for (const char c : word.substr(1)) {
    if (c == letter) return true;
    if (valued.find(c) != std::string_view::npos) return false;
  }
  return false;
}

bool matches(std::string_view word, const Option& option, std::string_view valued) {
  if (option.exact || !option.name.starts_with('-')) return matches_exact(word, option.name);
  if (option.name.starts_with("--")) return matches_long(word, option.name);
  return matches_short(word, option.name[1], valued);
}

// Whether `--` at `at` ends the options: it does not when it is the value of the one before.
bool ends_options(const Args& args, std::size_t at, std::size_t first, std::string_view valued) {
  if (!args[at].is("--")) return false;
  if (at == first) return true;
  const Arg& before = args[at - 1];
  if (!before.known) return false;
  if (!before.text.starts_with('-')) return true;
  return !before.text.starts_with("--") && before.text.size() > 1 &&
         valued.find(before.text.back()) == std::string_view::npos;
}

// Whether the word after this one is its value, whatever it looks like.
bool takes_value(const Arg& arg, std::string_view valued) {
  if (!arg.known || arg.text.size() < 2 || arg.text[0] != '-' || arg.text[1] == '-') return false;
  return arg.text.find_first_of(valued, 1) == arg.text.size() - 1;
}

// A pattern such as *.c cannot be an exact option, which has letters alone.
bool could_be(const Arg& arg, const Option& option) {
  if (!option.exact) return true;
  return arg.suffix.empty() || option.name.ends_with(arg.suffix) ||
         arg.text.find('=') != std::string::npos;
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

void find_options(const OptionList& list, const Args& args, std::size_t first, Findings& out) {
  if (list.hazards.empty()) return;
  for (std::size_t i = first; i < args.size(); ++i) {
    if (ends_options(args, i, first, list.valued)) return;
    if (!args[i].option && args[i].known && !list.hazards.contains("=")) continue;
    if (!args[i].known && args[i].single && takes_value(args[i - 1], list.valued)) continue;
    for (std::string_view rest = list.hazards; !rest.empty();) {
      const Option option = next_option(rest);
      const bool hit = args[i].known ? matches(args[i].text, option, list.valued)
                                     : args[i].option && could_be(args[i], option);
      if (!hit) continue;
      const std::string what = option.kind == Hazard::Kind::runs ? "runs" : "writes";
      out.hazards.push_back(
          {.kind = option.kind,
           .word = i,
           .reason = args[i].known
                         ? args[i].text + " makes " + args[0].text + " do more than its job"
                         : "the word " + args[i].text +
                               " is computed and may be an option with "
                               "which " +
                               args[0].text + " " + what + " something"});
      break;
    }
  }
}

// Operands that programs write to.
void find_in_operands(std::string_view program, const Args& args, Findings& out) {
  const bool second = one_of(program, "uniq xxd split");
  if (!second && program != "hostname" && !one_of(program, "make gmake bmake")) return;
  std::size_t operands = 0;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (args[i].is("--") || (args[i].option && args[i].known && !args[i].is("-"))) continue;
    ++operands;
    if (second && (operands == 2 || !args[i].single)) {
      // A value of -f, -n and the like is no operand.
      const bool value =
          args[i - 1].known && args[i - 1].text.size() == 2 && args[i - 1].text[0] == '-' &&
          std::string_view("fswblncoaC").find(args[i - 1].text[1]) != std::string_view::npos;
      if (value && args[i].single)
        --operands;
      else
        out.writes(i, std::string(program) + " writes to its second operand");
    }
    if (program == "hostname") out.writes(i, "hostname with a name sets it");
    if (program.ends_with("make") && args[i].known && args[i].text.contains('='))
      out.runs(i, "a variable on the command line of make can name any program");
    if (program.ends_with("make") && !args[i].known)
      out.runs(i, "a computed word can set any variable of make");
  }
}

bool find_in_options(std::string_view program, const Args& args, Findings& out) {
  for (const Program& known : kPrograms)
    if (one_of(program, known.names)) find_options(known.list, args, 1, out);
  find_in_operands(program, args, out);
  if (program == "tar" && args.size() > 1 && args[1].known && !args[1].option &&
      args[1].text.find_first_of("IF") != std::string::npos)
    out.runs(1, "this bundle of options makes tar run a program");
  if (program == "curl")
    for (std::size_t i = 1; i < args.size(); ++i)
      if (args[i].text.contains("%output")) out.writes(i, "%output makes curl write a file");
  if (program == "cmake")
    for (std::size_t i = 2, tail = 0; i < args.size(); ++i) {
      const bool plain = args[i].known && !args[i].text.contains('=') &&
                         (args[i].text.starts_with("-j") || !args[i].option);
      if (tail > 0 && !plain) out.runs(i, "what follows -- goes to the build program");
      if (args[i].is("--")) tail = i;
    }
  return true;
}

}  // namespace agentrt::policy::shell
