// git: subcommands and options that run programs, write files or trust another repository.
#include <algorithm>

#include "policy/shell/findings.h"
#include "policy/shell/git.h"
#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// Global options: harmless ones, and those with a value.
constexpr std::string_view kHarmless =
    "--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --no-lazy-fetch "
    "--icase-pathspecs --glob-pathspecs --noglob-pathspecs";
constexpr std::string_view kValued =
    "-c -C --git-dir --work-tree --namespace --exec-path --config-env --super-prefix "
    "--attr-source";

// Git's own subcommands. Any other name is an alias or a program git-NAME.
constexpr std::string_view kSubcommands =
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore "
    "check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column "
    "commit commit-graph commit-tree config count-objects describe diff diff-files diff-index "
    "diff-tree difftool fast-export fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck "
    "gc get-tar-commit-id grep hash-object help index-pack init interpret-trailers log ls-files "
    "ls-remote ls-tree mailinfo merge merge-base merge-file merge-index merge-tree mktag mktree mv "
    "name-rev notes pack-objects pack-redundant pack-refs patch-id prune pull push range-diff "
    "read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list "
    "rev-parse revert rm shortlog show show-branch show-index show-ref sparse-checkout stage stash "
    "status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index "
    "update-ref update-server-info var verify-commit verify-pack verify-tag version whatchanged "
    "worktree write-tree";

constexpr std::string_view kRunners =
    "difftool mergetool filter-branch instaweb gui citool daemon shell hook for-each-repo "
    "send-email imap-send p4 svn cvsimport cvsserver archimport credential web--browse gitk "
    "http-backend upload-pack receive-pack upload-archive interpret-trailers maintenance "
    "merge-index scalar lfs";

constexpr auto kFirst = OptionStyle::before_operand;

constexpr OptionTable kConfig{
    "config",
    "lz",
    "ft",
    "--global --system --local --worktree --blob= --get --get-all --get-regexp --get-urlmatch "
    "--list --fixed-value --get-color --get-colorbool --type= --bool --int --bool-or-int "
    "--bool-or-str --path --expiry-date --null --name-only --includes --no-includes --show-origin "
    "--show-scope --show-names --default= --all --regexp --value= --url=",
    "!-f !--file= !-e !--edit !--add !--replace-all !--unset !--unset-all !--rename-section "
    "!--remove-section",
    kFirst};
constexpr std::string_view kConfigReads =
    "--get --get-all --get-regexp --get-urlmatch --list --get-color --get-colorbool";

// git config NAME reads, git config NAME VALUE writes. An action such as `get` counts only before
// the name: `git config NAME get` sets NAME.
void config(const Args& args, std::size_t at, Findings& out) {
  const OptionReading reading = read_options(kConfig, args, at + 1, out);
  const bool reads = std::ranges::any_of(reading.uses, [](const OptionUse& use) {
    return use.letter == 'l' || one_of(use.name, kConfigReads);
  });
  if (reading.operands.empty() || reads) return;
  for (const std::size_t word : reading.operands)
    if (!args[word].known && !args[word].single)
      return out.runs(kNoWord, "what git config does is known only at run time");
  if (reading.operands.size() == 1 && args[reading.operands[0]].known &&
      !one_of(args[reading.operands[0]].text, "set unset edit rename-section remove-section"))
    return;
  const std::size_t first = reading.operands[0];
  if (args[first].is("get") || args[first].is("list")) return;
  out.runs(reading.operands.size() > 1 ? reading.operands[1] : first,
           "git config changes settings that can make git run programs");
}

// Subcommands such as `git submodule` whose effect depends on the first operand.
struct Verbs {
  std::string_view name;
  std::string_view harmless;  // harmless first operands; empty: all except `hazards`
  std::string_view hazards;
  std::string_view reason;
};
constexpr Verbs kVerbs[] = {
    {"bisect", "start good bad old new terms skip next reset log help", "",
     "git bisect can run a program"},
    {"submodule", "status summary init", "", "git submodule can run commands"},
    {"bundle", "verify list-heads", "", "git bundle writes a file"},
    {"remote", "show get-url prune update rename remove rm set-head set-branches", "",
     "git remote changes which servers git connects to"},
    {"reflog", "", "expire delete drop",
     "git reflog deletes entries that are needed to restore commits"},
    {"notes", "", "edit", "git notes opens an editor"},
};

constexpr OptionTable kVerbOptions{"", "*", "", "*", "", kFirst};

void first_operand(std::string_view name, const Args& args, std::size_t at, Findings& out) {
  for (const Verbs& verbs : kVerbs) {
    if (verbs.name != name) continue;
    const OptionReading reading = read_options(kVerbOptions, args, at + 1, out);
    const bool bare = reading.operands.empty();
    if (bare && one_of(name, "submodule remote reflog notes")) continue;  // it only lists
    const Arg* verb = bare ? nullptr : &args[reading.operands[0]];
    const bool harmless = verb && verb->known &&
                          (verbs.harmless.empty() ? !one_of(verb->text, verbs.hazards)
                                                  : one_of(verb->text, verbs.harmless));
    if (harmless) continue;
    const std::size_t word = bare ? at : reading.operands[0];
    if (name == "bundle")
      out.writes(word, std::string(verbs.reason));
    else
      out.runs(word, std::string(verbs.reason));
  }
}

// ext::, fd:: and any other NAME:: make git run git-remote-NAME.
void addresses(std::string_view name, const Args& args, std::size_t at, Findings& out) {
  const bool connects =
      one_of(name, "fetch pull push clone ls-remote remote submodule archive fetch-pack bundle");
  for (std::size_t i = at + 1; i < args.size(); ++i) {
    const std::string_view text = args[i].text;
    const std::size_t colons = text.find("::");
    const bool helper = connects && colons != text.npos && colons > 0 &&
                        text.substr(0, colons).find_first_of("/@ .") == text.npos;
    if (helper || text.contains("ext::") || text.contains("fd::"))
      out.runs(i, "this URL makes git run a program");
  }
}

}  // namespace

std::size_t git_subcommand(const Args& args, GlobalOptions options) {
  std::size_t at = 1;
  for (; at < args.size(); ++at) {
    const Arg& arg = args[at];
    if (!arg.known) return arg.option || !arg.single ? kNoWord : at;
    if (!arg.text.starts_with('-')) return at;
    if (options == GlobalOptions::harmless && !one_of(arg.text, kHarmless)) return kNoWord;
    if (one_of(arg.text, kValued) && arg.text != "--exec-path") ++at;
  }
  return at;
}

bool find_in_git(std::string_view program, const Args& args, Findings& out) {
  if (program != "git") return false;
  const std::size_t at = git_subcommand(args, GlobalOptions::all);
  for (std::size_t i = 1; i < std::min(at, args.size()); ++i)
    if (args[i].option && !(args[i].known && one_of(args[i].text, kHarmless)) &&
        !one_of(args[i].text, "--version --help -v -h --html-path --man-path --info-path"))
      out.runs(i, "the option " + args[i].text + " can make git run other programs");
  if (at >= args.size()) {
    if (at == kNoWord) out.runs(kNoWord, "which git subcommand runs is known only at run time");
    return true;
  }
  const std::string& name = args[at].text;
  if (!args[at].known)
    out.runs(kNoWord, "which git subcommand runs is known only at run time");
  else if (one_of(name, kRunners) || !one_of(name, kSubcommands))
    out.runs(at, "git " + name + " runs another program");
  if (const OptionTable* table = table_of(git_tables(), name))
    read_options(*table, args, at + 1, out);
  if (name == "config") config(args, at, out);
  first_operand(name, args, at, out);
  addresses(name, args, at, out);
  return true;
}

}  // namespace agentrt::policy::shell
