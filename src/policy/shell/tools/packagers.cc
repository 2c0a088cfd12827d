// Package managers, and programs with a subcommand that runs another program.
#include <algorithm>
#include <array>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// clang-format off
constexpr std::array kTables = {
    OptionTable{"npm", "", "",
        "-silent -s -quiet -q -verbose -d -dd -ddd -loglevel= -workspace= -w= -workspaces -ws "
        "-include-workspace-root -iwr -if-present -ignore-scripts -audit -no-audit -fund -no-fund "
        "-save -S -save-dev -D -save-exact -E -save-optional -O -save-peer -save-prod -P "
        "-save-bundle -B -no-save -global -g -omit= -include= -json -long -l -parseable -p -depth= "
        "-all -a -production -prod -only= -dev -prefer-offline -prefer-online -offline "
        "-legacy-peer-deps -strict-peer-deps -force -f -yes -y -no -n -dry-run -package-lock-only "
        "-package-lock -no-package-lock -tag= -access= -color -no-color -progress -no-progress "
        "-no-update-notifier -foreground-scripts -install-strategy= -no-bin-links -version -v "
        "-versions -help -h -usage -audit-level= -no-optional -link -diff= -no-git-tag-version "
        "-preid= -m= -message= -provenance -prefer-dedupe -searchlimit= -timing -unicode "
        // options of npm scripts, without effect on npm
        "-watch -watchAll -watchAll=false -coverage -ci -fix -runInBand -host -port= -mode= -debug "
        "-updateSnapshot -u -bail -reporter= -grep= -t= -testNamePattern= -testPathPattern= "
        "-passWithNoTests -detectOpenHandles -forceExit -run",
        "!-script-shell= !-node-options= !-prefix= !-C= !-userconfig= !-globalconfig= !-shell= "
        "!-call= !-c= !-package= !-registry=", OptionStyle::words},
    OptionTable{"pnpm", "*", "CF", "--filter= --workspace-concurrency= --reporter= *",
        "!--script-shell= !--node-options= !--prefix= !-C !--dir= !--cwd= !--userconfig= "
        "!--globalconfig= !--shell-mode !-c !--config.* !--registry= --modules-dir= "
        "--virtual-store-dir= --store-dir= !--package= !--npmrc-auth-file= !--global-dir= "
        "!--hooks* !--pnpmfile= !--global-pnpmfile= !--shell-emulator"},
    OptionTable{"yarn", "*", "", "*",
        "!--script-shell= !--node-options= !--cwd= !--use-yarnrc= !--registry= --modules-folder= "
        "!--prefix= !--top-level --cache-folder= !--userconfig= !--yarn-path= "
        "--global-folder= !-p= !--package= !--require="},
    OptionTable{"pip pip3 pipx", "*", "rectdinfC", "*",
        "!--python= --log= --report= !--global-option= !--install-option= !--build-option= "
        "!--editor= !--index-url= !-i !--extra-index-url= !-f !--find-links= !--config-settings= "
        "!-C !--trusted-host= !--proxy= !--keyring-provider= !--requirement-file="},
    OptionTable{"uv poetry pdm hatch rye pipenv bundle gem composer", "*", "", "*",
        "!--config-file= !--directory= !--project= !--env-file= !--python= !--index= "
        "!--index-url= !--default-index= !--extra-index-url= !--find-links= !--working-dir= "
        "!--gemfile= !--config= !--with-editable= !-C !-P"},
    OptionTable{"cargo", "qvVhrd", "pjFefiCZ",
        "--no-run --no-fail-fast --future-incompat-report --message-format= --quiet --verbose "
        "--color= --package= --workspace --exclude= --all --lib --bins --bin? --examples "
        "--example? --tests --test? --benches --bench? --all-targets --doc --features= "
        "--all-features --no-default-features --jobs= --release --profile= --target= "
        "--target-dir= --unit-graph --timings? --manifest-path= --ignore-rust-version --locked "
        "--offline --frozen --keep-going --no-deps --document-private-items --fix --allow-dirty "
        "--allow-staged --allow-no-vcs --explain= --check --prune= --depth= --no-dedupe "
        "--duplicates --invert? --charset= --prefix= --edges= --format= --format-version= "
        "--filter-platform= --list --aggressive --precise= --recursive --dry-run --breaking "
        "--dev --build --optional --no-optional --rename= --git= --branch= --tag= --rev= --path= "
        "--registry= --index= --vers= --version? --force --no-track --debug --name= --edition? "
        "--vcs= --edition-idioms --broken-code --limit= --crate-type= --nocapture --no-capture "
        "--test-threads= --run-ignored= --partition= --retries= --fail-fast --no-tests= --lcov "
        "--html --text --json --summary-only --ignore-filename-regex= --each-feature "
        "--feature-powerset --no-dev-deps --locked --no-verify --proc-macro --all-versions",
        "!--config= !-C !-Z --out-dir= --artifact-dir= --root= --output-path= --output-dir= "
        "!--open !--token="},
};

// A program that runs the command after its subcommand, its options and `operands` further words.
struct Runner {
  std::string_view program;
  // Empty: no subcommand; the command is among the program's own words.
  std::string_view subcommands;
  std::size_t operands = 0;
  OptionTable options;
};
constexpr auto kFirst = OptionStyle::before_operand;
constexpr std::array kRunners = {
    Runner{"npx pnpx bunx", "", 0, {"", "yqdh", "pcnw",
        "--yes --no --no-install --quiet --silent --ignore-existing --offline --prefer-offline "
        "--workspaces --workspace= --bun",
        "!-p !--package= !-c !--call= !--shell= !--node-arg= !-n !--node-options= !--userconfig= "
        "!--prefix= !--script-shell= !--globalconfig= !--registry=", kFirst}},
    Runner{"uvx", "", 0, {"", "qv", "p", "--quiet --verbose --offline --isolated",
        "!--from= !--with= !-p !--python= !--index-url= !--index= !--env-file=", kFirst}},
    Runner{"npm", "exec x", 0, {"", "yqs", "w", "--yes --no --quiet --silent --workspaces "
        "--workspace= --offline", "!--package= !-p !-c !--call=", kFirst}},
    Runner{"pnpm", "exec dlx", 0, {"", "rs", "", "--recursive --parallel --silent --no-bail",
        "!-c !--shell-mode !--package=", kFirst}},
    Runner{"yarn", "exec dlx", 0, {"", "q", "p", "--quiet", "!-p !--package=", kFirst}},
    Runner{"poetry", "run", 0, {"", "", "", "", "", kFirst}},
    Runner{"pipenv", "run", 0, {"", "", "", "", "", kFirst}},
    Runner{"pdm", "run", 0, {"", "s", "", "--site-packages", "", kFirst}},
    Runner{"hatch", "run", 0, {"", "", "", "", "", kFirst}},
    Runner{"rye", "run", 0, {"", "", "", "", "", kFirst}},
    Runner{"uv", "run", 0, {"", "qvnU", "m",
        "--quiet --verbose --frozen --locked --no-sync --no-dev --dev --all-extras --extra= "
        "--no-extra= --group= --no-group= --only-group= --only-dev --all-groups --all-packages "
        "--package= --no-project --isolated --active --exact --offline --no-progress --no-cache "
        "--no-editable --no-default-groups --upgrade",
        "!-m !--module= !--script= !--with= !--with-editable= !--with-requirements= !--env-file= "
        "!--python= !-p", kFirst}},
    Runner{"bundle", "exec", 0, {"", "", "", "--keep-file-descriptors", "", kFirst}},
    Runner{"rustup", "run", 1, {"", "", "", "--install", "", kFirst}},
    Runner{"conda mamba micromamba", "run", 0, {"", "v", "np",
        "--name= --prefix= --live-stream --no-capture-output --verbose", "", kFirst}},
    Runner{"direnv aws-vault", "exec", 1, {"", "", "", "", "", kFirst}},
    Runner{"mise asdf rbenv pyenv nodenv goenv", "exec x", 0, {"", "", "", "", "", kFirst}},
    Runner{"volta", "run", 0, {"", "", "", "--node= --npm= --yarn=", "", kFirst}},
    Runner{"corepack", "", 0, {"", "", "", "", "", kFirst}},
    Runner{"cross-env", "", 0, {"", "", "", "", "!-*", kFirst}},
    Runner{"doppler op dotenvx", "run", 0, {"", "", "", "", "", kFirst}},
    Runner{"lerna nx", "exec", 0, {"", "", "", "--parallel --stream --no-bail", "", kFirst}},
};
// clang-format on

// Subcommands that change the program's configuration, open other programs or store a command.
struct Changers {
  std::string_view program;
  std::string_view subcommands;
  std::string_view readers;  // second words that only show something
};
constexpr Changers kChangers[] = {
    {"npm", "config c", "get list ls"},
    {"npm", "set edit explore init create innit bugs docs home repo issues fund pkg", "get"},
    {"pnpm", "config c", "get list"},
    {"pnpm", "create patch setup env server", "list"},
    {"yarn", "config", "get list"},
    {"yarn", "create node plugin set link", ""},
    {"pip pip3", "config", "list get debug"},
    {"cargo", "login owner", "--list"},
    {"go", "generate tool", "version"},
    {"gh", "alias extension extensions ext config browse codespace cs", "list get"},
    {"aws", "configure", "list get list-profiles"},
    {"gcloud", "config init", "list get-value get"},
    {"helm", "plugin repo", "list ls"},
    {"kubectl", "plugin edit debug proxy port-forward attach", "list"},
    {"kubectl", "config", "view current-context get-contexts get-clusters get-users"},
    {"docker podman", "plugin context swarm trust extension sandbox", "ls list inspect show"},
    {"poetry", "config", "--list"},
    {"bundle", "config open", "list get"},
    {"composer", "config exec", "--list"},
    {"coverage", "run", ""},
    {"systemctl", "edit", ""},
    {"tox nox", "exec devenv", ""},
};

// Subcommands of pnpm and kubectl. Any other name is a program or script.
constexpr std::string_view kPnpmOwn =
    "install i add remove rm un uninstall update up upgrade link unlink import rebuild rb prune "
    "fetch install-test it patch patch-commit audit list ls la ll outdated why licenses run "
    "run-script exec dlx create test t start publish pack store root bin config c setup init "
    "deploy doctor env server recursive multi m dedupe stop restart help cat-file find-hash";

void inner(const Args& args, std::size_t at, Findings& out) {
  if (at < args.size())
    out.commands.push_back({at, Args(args.begin() + static_cast<std::ptrdiff_t>(at), args.end())});
}

constexpr std::string_view kPlainGlobals =
    "-s --silent -q --quiet -v --verbose -r --recursive -w --workspace-root -n --no-interaction "
    "--no-ansi --offline --no-color --color -y --yes --ws --workspaces --no-progress";

// Finds the subcommand and the command after it. False: not a call of this runner.
bool run_with(const Runner& runner, const Args& args, Findings& out) {
  std::size_t first = 1;
  if (!runner.subcommands.empty()) {
    // Skip options before the subcommand that are known to have no value.
    for (; first < args.size() && args[first].option; ++first)
      if (!args[first].known || !one_of(args[first].text, kPlainGlobals)) break;
    const bool certain = first < args.size() && args[first].known && !args[first].option;
    std::size_t at = first;
    while (!certain && at < args.size() && !one_of(args[at].text, runner.subcommands)) ++at;
    if (at >= args.size() || !one_of(args[at].text, runner.subcommands)) return false;
    if (!certain) out.runs(kNoWord, "which subcommand of " + args[0].text + " runs is not known");
    first = at + 1;
  }
  const OptionReading reading = read_options(runner.options, args, first, out);
  if (reading.operands.size() <= runner.operands) {
    // Without a command, some of them start a shell.
    if (!args.back().is("--help") && !args.back().is("--version"))
      out.runs(kNoWord, "what " + args[0].text + " runs is not among its words");
    return true;
  }
  std::size_t at = reading.operands[runner.operands];
  while (at < args.size() && args[at].is("--")) ++at;
  if (!reading.certain && (at >= args.size() || !args[at].known))
    out.runs(kNoWord, "what " + args[0].text + " runs is computed");
  inner(args, at, out);
  return true;
}

// Checks the words after `--`, which go to another program with its own options.
void find_in_tail(const Args& args, std::string_view of, Findings& out) {
  const auto dashes = std::ranges::find_if(args, [](const Arg& arg) { return arg.is("--"); });
  const OptionTable* table = table_of(build_tables(), of);
  if (dashes == args.end() || !table) return;
  const auto first = static_cast<std::size_t>(dashes - args.begin()) + 1;
  for (std::size_t i = first; i < args.size(); ++i)
    if (args[i].text.starts_with('@')) out.runs(i, "options come from a file");
  read_options(*table, args, first, out);
}

}  // namespace

std::span<const OptionTable> packager_tables() { return kTables; }

void find_changers(std::string_view program, const OptionReading& reading, const Args& args,
                   Findings& out) {
  const auto word = [&](std::size_t i) {
    return i < reading.operands.size() && args[reading.operands[i]].known
               ? std::string_view(args[reading.operands[i]].text)
               : std::string_view();
  };
  const bool judged = std::ranges::any_of(
      kChangers, [&](const Changers& changers) { return one_of(program, changers.program); });
  if (!judged || reading.operands.empty()) return;
  if (!args[reading.operands[0]].known || (!reading.certain && word(0).empty()))
    return out.runs(kNoWord, "which subcommand of " + args[0].text + " runs is computed");
  for (const Changers& changers : kChangers)
    if (one_of(program, changers.program) && one_of(word(0), changers.subcommands) &&
        !(one_of(word(1), changers.readers) && !word(1).empty()))
      out.runs(reading.operands[0],
               args[0].text + " " + std::string(word(0)) + " can make it run other programs");
  if (program == "pnpm" && !one_of(word(0), kPnpmOwn))
    out.runs(reading.operands[0], "pnpm runs the script or program " + std::string(word(0)));
}

bool find_in_runners(std::string_view program, const Args& args, Findings& out) {
  return std::ranges::any_of(kRunners, [&](const Runner& runner) {
    return one_of(program, runner.program) && run_with(runner, args, out);
  });
}

bool find_in_cargo(std::string_view program, const Args& args, Findings& out) {
  if (program != "cargo") return false;
  std::size_t first = 1;
  // A toolchain, as in cargo +nightly test.
  if (args.size() > 1 && args[1].known && args[1].text.starts_with('+')) {
    if (args[1].text.find_first_of("/\\") != std::string::npos)
      out.runs(1, args[1].text + " names a folder of programs");
    first = 2;
  }
  const OptionReading reading = read_options(*table_of(kTables, program), args, first, out);
  find_changers(program, reading, args, out);
  const std::string_view verb = !reading.operands.empty() && args[reading.operands[0]].known
                                    ? std::string_view(args[reading.operands[0]].text)
                                    : "";
  if (one_of(verb, "rustc rustdoc clippy fix")) find_in_tail(args, "rustc", out);
  if (verb == "fmt") find_in_tail(args, "rustfmt", out);
  return true;
}

}  // namespace agentrt::policy::shell
