// git: subcommands and options that run programs, write files or take another repository's word.
#include <algorithm>

#include "policy/shell/findings.h"
#include "policy/shell/git.h"

namespace agentrt::policy::shell {
namespace {

// Options before the subcommand: those that change nothing of importance, those with a value.
constexpr std::string_view kHarmless =
    "--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --no-lazy-fetch "
    "--icase-pathspecs --glob-pathspecs --noglob-pathspecs";
constexpr std::string_view kValued =
    "-c -C --git-dir --work-tree --namespace --exec-path --config-env --super-prefix "
    "--attr-source";

// What git itself has. Anything else is an alias or a program git-NAME.
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

struct Subcommand {
  std::string_view names;
  OptionList list;
};

// clang-format off
constexpr Subcommand kLists[] = {
    {"log show diff diff-tree diff-index diff-files format-patch whatchanged shortlog range-diff "
     "stash reflog blame annotate rev-list show-branch cherry",
     {"SGnLUlMCBX", "--output !--ext-diff"}},
    {"format-patch", {"nv", "-o --output-directory"}},
    {"grep", {"efABCm", "!-O !--open-files-in-pager"}},
    {"fetch pull", {"jox", "!--upload-pack !-s !--strategy"}},
    {"clone", {"bjo", "!-u !--upload-pack !-c !--config !--template !--separate-git-dir"}},
    {"init", {"b", "!--template !--separate-git-dir"}},
    {"ls-remote fetch-pack", {"o", "!-u !--upload-pack !--exec"}},
    {"push", {"o", "!--receive-pack !--exec"}},
    {"archive", {"", "-o --output !--exec !--remote"}},
    {"rebase", {"sXC", "!-x !--exec !-i !--interactive !-s !--strategy !--edit-todo"}},
    {"merge cherry-pick revert", {"mXF", "!-s !--strategy"}},
    {"commit tag notes", {"mFCct", "!--template"}},
    {"difftool mergetool", {"", "!-x !--extcmd !-t !--tool"}},
    {"cat-file", {"", "!--textconv !--filters"}},
    {"fast-export", {"", "--export-marks"}},
    {"help", {"", "!-w !--web !-m !--man !-i !--info"}},
    {"branch", {"u", "!--edit-description"}},
    {"merge-file", {"L", ""}},
};
// clang-format on

void config(const Args& args, std::size_t at, Findings& out) {
  std::size_t operands = 0;
  for (std::size_t i = at + 1; i < args.size(); ++i) {
    const std::string& text = args[i].text;
    if (!args[i].known) return out.runs(kNoWord, "what git config does is computed");
    if (one_of(text,
               "--get --get-all --get-regexp --list -l --get-urlmatch get list --show-origin "
               "--show-scope --name-only --global --local --system -z --null --bool --int "
               "--path --type --default --includes --worktree")) {
      if (one_of(text, "--get --get-all --get-regexp --list -l --get-urlmatch get list")) return;
      continue;
    }
    if (text.starts_with("-") || text == "-e" || ++operands > 1)
      return out.runs(i, "git config changes how git works, which can make it run programs");
  }
}

void second_word(std::string_view name, const Args& args, std::size_t at, Findings& out) {
  const std::string_view second =
      at + 1 < args.size() && args[at + 1].known ? std::string_view(args[at + 1].text) : "";
  if (name == "bisect" && second != "log" && second != "view" && second != "visualize") {
    if (second.empty() || one_of(second, "run visualize view replay"))
      out.runs(at + 1, "git bisect can run a program");
  }
  if (name == "bisect" && (second == "view" || second == "visualize"))
    out.runs(at + 1, "git bisect view runs a program");
  if (name == "submodule" && !one_of(second, "status summary init"))
    out.runs(at + 1, "git submodule can run commands");
  if (name == "bundle" && !one_of(second, "verify list-heads"))
    out.writes(at + 1, "git bundle writes a file");
  if (name == "remote" && one_of(second, "add set-url"))
    out.runs(at + 1, "git remote changes where git connects to");
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
    if (at == kNoWord) out.runs(kNoWord, "which subcommand of git runs is computed");
    return true;
  }
  const std::string& name = args[at].text;
  if (!args[at].known)
    out.runs(kNoWord, "which subcommand of git runs is computed");
  else if (one_of(name, kRunners) || !one_of(name, kSubcommands))
    out.runs(at, "git " + name + " runs another program");
  for (const Subcommand& known : kLists)
    if (one_of(name, known.names)) find_options(known.list, args, at + 1, out);
  if (name == "config") config(args, at, out);
  second_word(name, args, at, out);
  for (std::size_t i = at + 1; i < args.size(); ++i)
    if (args[i].text.contains("ext::") || args[i].text.contains("fd::"))
      out.runs(i, "this address makes git run a program");
  return true;
}

}  // namespace agentrt::policy::shell
