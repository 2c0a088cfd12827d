// Option tables of system programs, other version control systems and other languages. These tables
// list only the hazards; other options are accepted.
#include <array>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// clang-format off
constexpr std::array kTables = {
    OptionTable{"apt apt-get apt-cache apt-mark aptitude", "*", "oct", "*",
        "!-o !--option= !-c !--config-file="},
    OptionTable{"dpkg dpkg-query dpkg-deb", "*", "", "*",
        "!--pre-invoke= !--post-invoke= !--status-logger= --log= !--root= !--admindir= "
        "!--instdir="},
    OptionTable{"rpm dnf yum zypper", "*", "EDc", "*",
        "!-E !--eval= !-D !--define= !--load= !--rcfile= !--pipe= !--root= !--macros= !-c "
        "!--config= !--setopt= !--installroot="},
    OptionTable{"pacman", "*", "rb", "*", "!--config= !--hookdir= !--root= !-r --logfile="},
    OptionTable{"gpg gpg2", "*", "oru", "*",
        "~-o ~--output= !--options= !--photo-viewer= !--exec-path= !--agent-program= "
        "!--dirmngr-program= !--homedir= --status-file= --logger-file= --log-file= "
        "!--load-extension= --attribute-file= !--edit-key !--card-edit"},
    OptionTable{"ssh-keygen ssh-add", "*", "DwsfPNCtb", "", "!-D !-w !-s"},
    OptionTable{"tcpdump tshark dumpcap", "*", "wzZWGCFricnXb", "*",
        "~-w !-z -Z !-X -F --export-objects= !--enable-* -C"},
    OptionTable{"journalctl", "*", "uptnogSUbMD", "*",
        "--cursor-file= --vacuum-* --rotate --flush --relinquish-var --setup-keys "
        "--update-catalog !--root= !--image="},
    OptionTable{"systemctl loginctl", "*", "tpnoHM", "*", "!-H !--host= !-M !--machine= !--root="},
    OptionTable{"ip", "", "", "*", "!-batch= !-b= !-force !-n= !-netns=", OptionStyle::words},
    OptionTable{"pidstat", "*", "", "*", "!-e"},
    OptionTable{"cloc", "", "", "*",
        "!-extract-with= -out= -report-file= !-config= -write-lang-def* -sql= -processed= "
        "-ignored= -counted= -diff-list-file= -categorized= -found=", OptionStyle::words},
    OptionTable{"svn svnadmin", "*", "", "*",
        "!--diff-cmd= !--diff3-cmd= !--editor-cmd= !--config-dir= !--config-option="},
    OptionTable{"hg", "*", "Rotpr", "*",
        "!--config= !--cwd= !-R !--repository= -o --output= !--tool= !-p !--program="},
    OptionTable{"jj", "*", "R", "*", "!--config* !-R !--repository= !--tool="},
    OptionTable{"rubocop rspec", "*", "rcofI", "*",
        "!-r !--require= !-c !--config= !--options= -o --out= !^-f !^--format= !-I"},
    OptionTable{"rake", "*", "freEpIR", "*",
        "!-f !--rakefile= !-r !--require= !-e !--execute* !-E !-p !-I !--libdir= !-R !--rakelib*"},
    OptionTable{"phpunit phpstan psalm php-cs-fixer", "*", "cad", "*",
        "!--bootstrap= !-c !--configuration= !--config= !--include-path= !-d --log-* --coverage-* "
        "!--extension= !--printer= !--loader= !-a !--autoload-file= !--plugin="},
    OptionTable{"webpack vite esbuild babel swc parcel stylelint tslint markdownlint gulp grunt",
        "*", "cfr", "*",
        "!-c !--config* !--plugin* !--preset* !--require= !-r !-f !--gulpfile= !--gruntfile= "
        "!--rulesdir= !--custom-syntax= !--custom-formatter= !--rules="},
    OptionTable{"coverage", "*", "do", "*",
        "!--rcfile= -o --data-file= -d --directory= !--concurrency="},
    OptionTable{"tox", "*", "cxe", "*",
        "!-c !--conf= !-x !--override= !--runner= !--workdir= !--root= !--installpkg="},
    OptionTable{"nox", "*", "fse", "*", "!-f !--noxfile= !--envdir="},
    OptionTable{"pre-commit", "*", "c", "*", "!-c !--config="},
    OptionTable{"rclone", "*", "", "*",
        "!--config= !--password-command= !--rc* --log-file= !--metadata-mapper= !--sftp-ssh="},
    OptionTable{"aria2c", "*", "odli", "*",
        "!--on-* !--conf-path= -o --out= -d --dir= -l --log= --save-* -i --input-file="},
    OptionTable{"http https xh", "*", "oapv", "*", "~-o ~--output= -d --download !--session*"},
    OptionTable{"dot neato fdp sfdp twopi circo", "*", "GNEKTlo", "", "-o -O !-l"},
    OptionTable{"ld ld.lld ld.gold ld.bfd gold mold lld", "", "", "*",
        "!-plugin= !-plugin* !-load-pass-plugin= !-run= -Map= -Map*", OptionStyle::words},
    OptionTable{"lynx w3m links elinks", "", "", "*",
        "!-cfg= !-cmd_script= !-editor= !-config= !-eval= -cmd_log= !-o= !-lss= !-trace",
        OptionStyle::words},
    OptionTable{"mlr", "*", "", "*", "-I !--load= !--mload= !--prepipe= !--prepipex= !-s"},
};
// clang-format on

}  // namespace

std::span<const OptionTable> system_tables() { return kTables; }

}  // namespace agentrt::policy::shell
