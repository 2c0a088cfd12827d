// Option tables of git's subcommands. A subcommand without a table has no option that runs or
// writes anything beyond its job.
#include <array>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// clang-format off
constexpr std::string_view kNegations = "--no-* --quiet --verbose --progress";

constexpr std::string_view kDiff =
    "--no-* --quiet --verbose --progress "
    "--patch --unified= --function-context --raw --patch-with-raw --patch-with-stat --numstat "
    "--shortstat --dirstat? --cumulative --dirstat-by-file? --check --summary --name-only "
    "--name-status --stat? --stat-width= --stat-name-width= --stat-graph-width= --stat-count= "
    "--compact-summary --binary --full-index --color? --ws-error-highlight= --abbrev? "
    "--src-prefix= --dst-prefix= --line-prefix= --default-prefix --inter-hunk-context= "
    "--output-indicator-new= --output-indicator-old= --output-indicator-context= "
    "--break-rewrites? --find-renames? --irreversible-delete --find-copies? "
    "--find-copies-harder --rename-empty --renames? --follow --minimal --ignore-all-space "
    "--ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines "
    "--ignore-matching-lines= --indent-heuristic --patience --histogram --diff-algorithm= "
    "--anchored= --word-diff? --word-diff-regex= --color-words? --color-moved? "
    "--color-moved-ws= --relative? --text --exit-code --textconv --ignore-submodules? "
    "--submodule? --ita-invisible-in-index --ita-visible-in-index --pickaxe-all "
    "--pickaxe-regex --rotate-to= --skip-to= --find-object= --diff-filter= --max-depth= "
    // of diff, log, show and rev-list
    "--cached --staged --merge-base --base --ours --theirs --max-count= --skip= --since= "
    "--after= --until= --before= --since-as-filter= --author= --committer= --grep= "
    "--grep-reflog= --all-match --invert-grep --regexp-ignore-case --basic-regexp "
    "--extended-regexp --fixed-strings --perl-regexp --remove-empty --merges --min-parents= "
    "--max-parents= --first-parent --exclude-first-parent-only --not --all --branches? --tags? "
    "--remotes? --glob= --exclude= --exclude-hidden= --reflog --alternate-refs "
    "--single-worktree --ignore-missing --bisect --stdin --cherry-mark --cherry-pick "
    "--left-only --right-only --cherry --walk-reflogs --merge --boundary --use-bitmap-index "
    "--simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges "
    "--ancestry-path? --date-order --author-date-order --topo-order --reverse --objects "
    "--objects-edge --indexed-objects --unpacked --filter= --filter-print-omitted --missing= "
    "--do-walk --pretty? --format= --abbrev-commit --oneline --encoding= --expand-tabs? --notes? "
    "--show-notes? --standard-notes --show-signature --relative-date --date= --parents "
    "--children --left-right --graph --show-linear-break? --count --timestamp --header "
    "--disk-usage? --decorate? --clear-decorations --decorate-refs= --decorate-refs-exclude= "
    "--source --mailmap --use-mailmap --full-diff --log-size --remerge-diff --diff-merges= --cc "
    "--dd --combined-all-paths --root --always --object-names --in-commit-order --pretty-raw "
    "--creation-factor= --left-only --show-reflog --topics --more= --list --current --sha1-name "
    "--independent --include-untracked --only-untracked --index --stale-fix --updateref "
    "--rewrite --single-worktree --range-diff= --interdiff=";

constexpr std::array kTables = {
    OptionTable{"log show whatchanged rev-list diff diff-tree diff-index diff-files range-diff "
                "reflog show-branch cherry",
        "abcdgiEFPRhmpqrstuvwxzWDNk0123456789", "nULSGOIlM?C?B?X?", "", "--output= !--ext-diff",
        OptionStyle::gnu, kDiff},
    OptionTable{"stash", "abkpqsuvwzSPRW0123456789", "mULM?C?B?X?",
        "--keep-index --patch --staged --all --message= --pathspec-from-file= "
        "--pathspec-file-nul --print", "--output= !--ext-diff", OptionStyle::gnu, kDiff},
    OptionTable{"blame annotate", "bcefhlnpstw", "SLC?M?",
        "--incremental --root --show-stats --score-debug --show-name --show-number --porcelain "
        "--line-porcelain --show-email --ignore-rev= --ignore-revs-file= --color-lines "
        "--color-by-age --contents=", "--output= !--ext-diff", OptionStyle::gnu, kDiff},
    OptionTable{"shortlog", "censhE0123456789", "w?",
        "--committer --numbered --summary --email --group=",
        "--output=", OptionStyle::gnu, kDiff},
    OptionTable{"format-patch", "abkNnpsuwzMCBhq0123456789", "ovUSGO",
        "--numbered --signoff --stdout --cover-letter --numbered-files --suffix= "
        "--start-number= --reroll-count= --filename-max-length= --rfc? "
        "--cover-from-description= --subject-prefix= --keep-subject --zero-commit "
        "--ignore-if-in-upstream --add-header= --to= --cc= --from? --in-reply-to= --attach? "
        "--inline? --thread? --signature= --base= --signature-file= --force-in-body-from",
        "-o --output-directory= --output= !--ext-diff", OptionStyle::gnu, kDiff},
    OptionTable{"status", "sbvzhq", "u?M?",
        "--short --branch --show-stash --ahead-behind --porcelain? --long --null "
        "--untracked-files? --ignored? --ignore-submodules? --column? --find-renames? --renames",
        "", OptionStyle::gnu, kNegations},
    OptionTable{"grep", "viwaIrEGFPnhHlLzocpWq0123456789", "CBAfemO?",
        "--cached --no-index --untracked --exclude-standard --recurse-submodules --invert-match "
        "--ignore-case --word-regexp --text --textconv --recursive --max-depth= "
        "--extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column "
        "--full-name --files-with-matches --name-only --files-without-match --null "
        "--only-matching --count --color? --break --heading --context= --before-context= "
        "--after-context= --threads= --show-function --function-context --and --or --not "
        "--all-match --ext-grep --max-count= --index",
        "!-O !--open-files-in-pager?", OptionStyle::gnu, kNegations},
    OptionTable{"fetch pull", "vqafmtnpPkurS46", "josXS?r?",
        "--all --set-upstream --append --atomic --force --multiple --tags --jobs= --prefetch "
        "--prune --prune-tags --recurse-submodules? --dry-run --write-fetch-head --keep "
        "--update-head-ok --depth= --shallow-since= --shallow-exclude= --deepen= --unshallow "
        "--refetch --submodule-prefix= --recurse-submodules-default= --update-shallow --refmap= "
        "--server-option= --ipv4 --ipv6 --negotiation-tip= --negotiate-only --filter= "
        "--auto-maintenance --auto-gc --show-forced-updates --write-commit-graph --stdin "
        "--porcelain --rebase? --stat --summary --compact-summary --log? --signoff --squash "
        "--commit --edit --cleanup= --ff --ff-only --verify --verify-signatures --autostash "
        "--strategy-option= --gpg-sign? --allow-unrelated-histories",
        "!--upload-pack= !^-s !^--strategy=", OptionStyle::gnu, kNegations},
    OptionTable{"push", "vqdnfu46", "o",
        "--repo= --all --branches --mirror --delete --tags --dry-run --porcelain --force "
        "--force-with-lease? --force-if-includes --recurse-submodules= --thin --set-upstream "
        "--prune --follow-tags --signed? --atomic --push-option= --ipv4 --ipv6 --verify",
        "!--receive-pack= !--exec=", OptionStyle::gnu, kNegations},
    OptionTable{"clone", "vqnls46", "bjouc",
        "--reject-shallow --bare --naked --mirror --local --shared --recurse-submodules? "
        "--recursive? --jobs= --reference= --reference-if-able= --dissociate --origin= --branch= "
        "--depth= --shallow-since= --shallow-exclude= --single-branch --shallow-submodules "
        "--server-option= --ipv4 --ipv6 --filter= --also-filter-submodules --remote-submodules "
        "--sparse --checkout --hardlinks --tags --revision= --ref-format=",
        "!-u !--upload-pack= !-c !--config= !--template= !--separate-git-dir= !--bundle-uri=",
        OptionStyle::gnu, kNegations},
    OptionTable{"init", "q", "b",
        "--bare --shared? --initial-branch= --object-format= --ref-format=",
        "!--template= !--separate-git-dir=", OptionStyle::gnu, kNegations},
    OptionTable{"ls-remote fetch-pack", "htqbk", "ou",
        "--tags --heads --branches --refs --get-url --sort= --exit-code --symref "
        "--server-option= --all --stdin --thin --include-tag --depth= --shallow-since= "
        "--shallow-exclude= --diag-url --keep --stateless-rpc --lock-pack --cloning",
        "!-u !--upload-pack= !--exec=", OptionStyle::gnu, kNegations},
    OptionTable{"archive", "vl0123456789", "o",
        "--format= --list --prefix= --add-file= --add-virtual-file= --worktree-attributes "
        "--mtime=", "~-o ~--output= !--exec= !--remote=", OptionStyle::gnu, kNegations},
    OptionTable{"rebase", "qvnfmk", "sXCxiS?r?",
        "--onto= --keep-base --stat --signoff --committer-date-is-author-date "
        "--reset-author-date --ignore-date --ignore-whitespace --whitespace= --force-rebase "
        "--continue --skip --abort --quit --show-current-patch --apply --merge --preserve-merges "
        "--rerere-autoupdate --empty= --keep-empty --autosquash --update-refs --gpg-sign? "
        "--autostash --allow-empty-message --rebase-merges? --fork-point --strategy-option= "
        "--root --reschedule-failed-exec --reapply-cherry-picks --verify --ff --trailer=",
        "!-x !--exec= !-i !--interactive !^-s !^--strategy= !--edit-todo",
        OptionStyle::gnu, kNegations},
    OptionTable{"merge cherry-pick revert", "nevqsx", "mXFsS?",
        "--stat --summary --compact-summary --log? --squash --commit --edit --cleanup= --ff "
        "--ff-only --rerere-autoupdate --verify-signatures --strategy-option= --message= --file= "
        "--into-name= --abort --quit --continue --skip --allow-unrelated-histories --gpg-sign? "
        "--autostash --overwrite-ignore --signoff --verify --mainline= --allow-empty "
        "--allow-empty-message --keep-redundant-commits --empty= --reference",
        "!^-s !^--strategy=", OptionStyle::gnu, kNegations},
    OptionTable{"commit", "qvseaipontz", "FmcCtS?u?",
        "--file= --author= --date= --message= --reedit-message= --reuse-message= --fixup= "
        "--squash= --reset-author --trailer= --signoff --edit --cleanup= --status --gpg-sign? "
        "--all --include --interactive --patch --only --dry-run --short --branch --ahead-behind "
        "--porcelain --long --null --amend --untracked-files? --pathspec-from-file= "
        "--pathspec-file-nul --allow-empty --allow-empty-message --verify --post-rewrite",
        "!-t !--template=", OptionStyle::gnu, kNegations},
    OptionTable{"tag", "ldvasefi0123456789", "mFun?",
        "--list --delete --verify --annotate --message= --file= --edit --sign --cleanup= "
        "--local-user= --force --create-reflog --column? --contains? --with? --without? --merged? "
        "--sort= --points-at= --format= --color? --ignore-case --trailer= --omit-empty",
        "", OptionStyle::gnu, kNegations},
    OptionTable{"branch", "vqtradDmMcClfi", "u",
        "--track? --set-upstream --set-upstream-to= --unset-upstream --color? --remotes "
        "--contains? --with? --without? --abbrev? --all --delete --move --copy --list "
        "--show-current --create-reflog --force --merged? --column? --sort= --points-at= "
        "--ignore-case --recurse-submodules --format= --omit-empty",
        "!--edit-description", OptionStyle::gnu, kNegations},
    OptionTable{"add stage", "nvipfuNAe", "U",
        "--dry-run --interactive --patch --force --update --renormalize --intent-to-add --all "
        "--ignore-removal --refresh --ignore-errors --ignore-missing --sparse --chmod= "
        "--warn-embedded-repo --pathspec-from-file= --pathspec-file-nul --unified= "
        "--inter-hunk-context=", "!-e !--edit", OptionStyle::gnu, kNegations},
    OptionTable{"checkout switch restore", "lqmdtfpSW23", "bBcCsU",
        "--guess --overlay --recurse-submodules? --merge --conflict= --detach --track? --force "
        "--orphan= --overwrite-ignore --ignore-other-worktrees --ours --theirs --patch "
        "--ignore-skip-worktree-bits --pathspec-from-file= --pathspec-file-nul --create= "
        "--force-create= --discard-changes --source= --staged --worktree --ignore-unmerged",
        "", OptionStyle::gnu, kNegations},
    OptionTable{"difftool mergetool", "*", "xt", "*", "!-x !--extcmd= !-t !--tool="},
    OptionTable{"cat-file", "etpsz", "Z",
        "--allow-unknown-type --use-mailmap --mailmap --batch? --batch-check? --batch-command? "
        "--batch-all-objects --buffer --follow-symlinks --unordered --path=",
        "!--textconv !--filters", OptionStyle::gnu, kNegations},
    OptionTable{"index-pack pack-objects", "*", "o", "*", "-o"},
    OptionTable{"read-tree", "*", "", "*", "--index-output="},
    OptionTable{"checkout-index", "*", "", "*", "--prefix="},
    OptionTable{"apply am", "*", "pC", "*", "--unsafe-paths --build-fake-ancestor="},
    OptionTable{"replace", "*", "", "*", "!-e !--edit"},
    OptionTable{"fast-export", "*", "MC", "*", "--export-marks="},
    OptionTable{"help", "ag", "", "--all --guides --config --aliases --external-commands",
        "!-w !--web !-m !--man !-i !--info", OptionStyle::gnu, kNegations},
    OptionTable{"ls-files", "cdmoiskutvfz", "xX",
        "--cached --deleted --modified --others --ignored --stage --killed --directory --eol "
        "--empty-directory --unmerged --resolve-undo --exclude= --exclude-from= "
        "--exclude-per-directory= --exclude-standard --full-name --recurse-submodules "
        "--error-unmatch --with-tree= --abbrev? --debug --deduplicate --sparse --format=",
        "", OptionStyle::gnu, kNegations},
};
// clang-format on

}  // namespace

std::span<const OptionTable> git_tables() { return kTables; }

}  // namespace agentrt::policy::shell
