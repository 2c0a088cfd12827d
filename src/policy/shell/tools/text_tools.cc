// Option tables of programs that read, search, show, pack and convert files.
#include <array>

#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// clang-format off
constexpr std::array kTables = {
    OptionTable{"sort", "bdfgiMhnRrVcCmsuz", "kSTto",
        "--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
        "--ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort "
        "--random-source= --reverse --sort= --version-sort --batch-size= --check? --debug "
        "--files0-from= --key= --merge --stable --buffer-size= --field-separator= "
        "--temporary-directory= --parallel= --unique --zero-terminated",
        "-o --output= !--compress-program="},
    OptionTable{"shuf", "erz", "ino",
        "--echo --input-range= --head-count= --random-source= --repeat --zero-terminated",
        "-o --output="},
    OptionTable{"uniq", "cdDiuz0123456789", "fsw",
        "--count --repeated --all-repeated? --skip-fields= --group? --ignore-case --skip-chars= "
        "--unique --zero-terminated --check-chars=", ""},
    OptionTable{"xxd", "", "",
        "-a -autoskip -b -bits -c= -cols= -c* -C -capitalize -d -e -E -EBCDIC -g= -groupsize= -g* "
        "-i -include -l= -len= -l* -n= -name= -n* -o= -off= -offset= -o* -p -ps -postscript "
        "-plain -r -revert -s= -seek= -skip= -s* -u -upper -uppercase -v -version -R= -R*", "",
        OptionStyle::words_before_operand},
    OptionTable{"iconv", "cls", "fto",
        "--from-code= --to-code= --list --silent --verbose --unicode-subst= --byte-subst= "
        "--widechar-subst=", "~-o ~--output="},
    OptionTable{"tree", "acdfghiJlnpqrsStuUvxXACDFNQ0123456789", "LPIoHT",
        "--gitignore --gitfile= --matchdirs --ignore-case --prune --filelimit= --noreport "
        "--charset= --inodes --device --dirsfirst --filesfirst --sort= --si --du --timefmt= "
        "--metafirst --infofile= --info --fromfile --fromtabfile --hintro= --houtro= --nolinks "
        "--compress= --hyperlink", "-o -R", OptionStyle::separate},
    OptionTable{"split", "deuxz0123456789", "abCnlt",
        "--suffix-length= --additional-suffix= --bytes= --line-bytes= --numeric-suffixes? "
        "--hex-suffixes? --elide-empty-files --lines= --number= --separator= --unbuffered "
        "--verbose", "!--filter="},
    OptionTable{"csplit", "kqsz", "bfn",
        "--keep-files --quiet --silent --elide-empty-files --digits= --suppress-matched",
        "-f --prefix= -b --suffix-format="},
    OptionTable{"date", "Ru", "dfrI?s",
        "--date= --debug --file= --iso-8601? --resolution --rfc-email --rfc-822 --rfc-2822 "
        "--rfc-3339= --reference= --utc --universal --uct", "-s --set="},
    OptionTable{"hostname", "AadfIisy", "F",
        "--all-fqdns --alias --domain --fqdn --long --all-ip-addresses --ip-address --short --yp "
        "--nis", "-F --file= -b --boot"},
    OptionTable{"file", "bcdEhiklLnNprsSvzZ0", "mefFP",
        "--brief --checking-printout --exclude= --exclude-quiet= --files-from= --separator= "
        "--mime --apple --extension --mime-type --mime-encoding --keep-going --list "
        "--dereference --no-dereference --no-buffer --no-pad --print0 --preserve-date "
        "--parameter= --raw --special-files --no-sandbox --debug --uncompress "
        "--uncompress-noreport --magic-file=", "-C --compile"},
    OptionTable{"tar gtar bsdtar", "AcdrtuxGnSkUWOmpsMBijaJzZhlRvwoPy", "gCTXfFLbHVIKN",
        "--catenate --concatenate --create --delete --diff --compare --append --test-label --list "
        "--update --extract --get --check-device --incremental --hole-detection= "
        "--ignore-failed-read --level= --no-check-device --no-seek --seek --occurrence? "
        "--sparse-version= --sparse --add-file= --directory= --exclude= --exclude-backups "
        "--exclude-caches --exclude-caches-all --exclude-caches-under --exclude-ignore= "
        "--exclude-ignore-recursive= --exclude-tag= --exclude-tag-all= --exclude-tag-under= "
        "--exclude-vcs --exclude-vcs-ignores --no-null --null --no-recursion --recursion "
        "--no-unquote --unquote --verbatim-files-from --no-verbatim-files-from --files-from= "
        "--exclude-from= --anchored --no-anchored --ignore-case --no-ignore-case --wildcards "
        "--no-wildcards --wildcards-match-slash --no-wildcards-match-slash "
        "--keep-directory-symlink --keep-newer-files --keep-old-files --overwrite --overwrite-dir "
        "--no-overwrite-dir --one-top-level? --recursive-unlink --skip-old-files --unlink-first "
        "--verify --ignore-command-error --no-ignore-command-error --to-stdout --atime-preserve? "
        "--clamp-mtime --mtime= --delay-directory-restore --no-delay-directory-restore --group= "
        "--group-map= --mode= --touch --no-same-owner --no-same-permissions --numeric-owner "
        "--owner= --owner-map= --preserve-permissions --same-permissions --same-owner --sort= "
        "--preserve-order --same-order --acls --no-acls --selinux --no-selinux --xattrs "
        "--no-xattrs --xattrs-exclude= --xattrs-include= --force-local --file= --tape-length= "
        "--multi-volume --blocking-factor= --read-full-records --ignore-zeros --record-size= "
        "--format= --old-archive --portability --pax-option= --posix --label= --auto-compress "
        "--no-auto-compress --bzip2 --xz --lzip --lzma --lzop --zstd --gzip --gunzip --ungzip "
        "--compress --uncompress --backup? --hard-dereference --dereference --starting-file= "
        "--newer-mtime= --newer= --after-date= --one-file-system --absolute-names --suffix= "
        "--strip-components= --transform= --xform= --checkpoint? --full-time --check-links "
        "--no-quote-chars= --quote-chars= --quoting-style= --block-number --show-defaults "
        "--show-omitted-dirs --show-snapshot-field-ranges --show-transformed-names "
        "--show-stored-names --totals? --utc --verbose --warning= --interactive --confirmation "
        "--restrict --usage",
        "!--to-command= !--checkpoint-action= !-I !--use-compress-program= !--rsh-command= "
        "!--rmt-command= !-F !--info-script= !--new-volume-script= --index-file= --volno-file= -g "
        "--listed-incremental= --remove-files"},
    OptionTable{"cpio", "*", "CEFHIMOR", "*",
        "!--rsh-command= !-F !--file= -O --to-file -E --pattern-file="},
    OptionTable{"zip", "*", "bntx", "*",
        "!-T !--unzip-command= !--test --logfile-path= --log-append -O --output-file= --out="},
    OptionTable{"rg ripgrep", "abcFHhIilLnNoPpqsSuUvVwxz0.", "ABCefgmMjtTrEd",
        "--after-context= --auto-hybrid-regex --before-context= --binary --block-buffered "
        "--byte-offset --case-sensitive --color= --colors= --column --context= "
        "--context-separator= --count --count-matches --crlf --debug --dfa-size-limit= --encoding= "
        "--engine= --field-context-separator= --field-match-separator= --file= --files "
        "--files-with-matches --files-without-match --fixed-strings --follow --generate= --glob= "
        "--glob-case-insensitive --heading --hidden --hyperlink-format= --iglob= --ignore-case "
        "--ignore-file= --ignore-file-case-insensitive --include-zero --invert-match --json "
        "--line-buffered --line-number --line-regexp --max-columns= --max-columns-preview "
        "--max-count= --max-depth= --maxdepth= --max-filesize= --mmap --multiline "
        "--multiline-dotall --no-* --null --null-data --one-file-system --only-matching "
        "--passthru --passthrough --path-separator= --pcre2 --pcre2-version --pre-glob= --pretty "
        "--quiet --regex-size-limit= --regexp= --replace= --search-zip --smart-case --sort= "
        "--sortr= --sort-files --stats --stop-on-nonmatch --text --threads= --trace --trim "
        "--type= --type-add= --type-clear= --type-list --type-not= --unicode --unrestricted "
        "--vimgrep --with-filename --word-regexp",
        "!--pre= !--hostname-bin="},
    OptionTable{"ag ack ack-grep", "*", "ABCGgm", "*",
        "!--pager= --output= !--filter !--ackrc= --create-ackrc"},
    OptionTable{"less more most", "aABcCdeEfFgGiIJKLlmMnNqQrRsSuUVvwWX~0123456789",
        "bhjkoOpPtTxyzD#\"",
        "--search-skip-screen --SEARCH-SKIP-SCREEN --buffers= --auto-buffers --clear-screen "
        "--CLEAR-SCREEN --dumb --color= --quit-at-eof --QUIT-AT-EOF --force --quit-if-one-screen "
        "--hilite-search --HILITE-SEARCH --max-back-scroll= --ignore-case --IGNORE-CASE "
        "--jump-target= --status-column --quit-on-intr --no-lessopen --long-prompt --LONG-PROMPT "
        "--line-numbers --LINE-NUMBERS --pattern= --prompt= --quiet --silent --QUIET --SILENT "
        "--raw-control-chars --RAW-CONTROL-CHARS --squeeze-blank-lines --chop-long-lines "
        "--underline-special --UNDERLINE-SPECIAL --hilite-unread --HILITE-UNREAD --tabs= "
        "--no-init --max-forw-scroll= --window= --quotes= --tilde --shift= --file-size "
        "--follow-name --incsearch --line-num-width= --mouse --MOUSE --no-keypad --no-histdups "
        "--rscroll= --save-marks --status-col-width= --use-backslash --use-color --wheel-lines= "
        "--wordwrap --header= --exit-follow-on-close --redraw-on-quit --squeeze --plain "
        "--print-over --clean-print --lines= --silent --logical --exit-on-eof",
        "-o -O !-k -T -t --tag= --tag-file= --log-file= --LOG-FILE= !--lesskey-file= "
        "!--lesskey-src= !--lesskey-content="},
    OptionTable{"man", "dDfkKlwWciIau7tZV", "CRLmMSsePrEpT?H?X?",
        "--debug --default --warnings? --whatis --apropos --global-apropos --local-file --where "
        "--path --location --where-cat --location-cat --catman --recode= --locale= --systems= "
        "--sections= --extension= --ignore-case --match-case --regex --wildcard --names-only "
        "--all --update --no-subpages --ascii --encoding= --no-hyphenation --nh "
        "--no-justification --nj --troff --ditroff --usage",
        "!-P !--pager= !-H !--html? !-C !--config-file= !--preprocessor= !-p !-X !--gxditview? "
        "!-T !--troff-device? !-r !--prompt= !-M !--manpath="},
    OptionTable{"bat batcat", "ApndufSPLV", "lHmr",
        "--show-all --plain? --language= --highlight-line= --file-name= --diff --diff-context= "
        "--tabs= --wrap= --chop-long-lines --terminal-width= --number --color= --italic-text= "
        "--decorations= --force-colorization --paging= --no-paging --map-syntax= "
        "--ignored-suffix= --theme= --theme-light= --theme-dark= --list-themes --style= "
        "--line-range= --list-languages --unbuffered --nonprintable-notation= --binary= "
        "--squeeze-blank --squeeze-limit= --strip-ansi= --no-config",
        "!--pager="},
    OptionTable{"delta", "*", "", "*", "!--pager= !--config= !--diff-args="},
    OptionTable{"fzf", "*", "", "*",
        "!--preview= !--bind= !--listen? !--listen-unsafe? !--with-shell= --history= !--tmux?"},
    OptionTable{"openssl", "", "", "*",
        "-out= -keyout= -writerand= !-engine= !-provider= !-provider-path= !-config= "
        "-CAcreateserial -CAserial= -sess_out= -keylogfile= ",
        OptionStyle::words},
    OptionTable{"ctags etags", "*", "IKLhTeilNDUVw", "*",
        "~-o ~-f ~--output= !--options* !-L !--filter? !--optlib-dir= !--data-dir= "
        "!--_interactive? !--*-command"},
    OptionTable{"yq", "*", "", "*",
        "-i --inplace --in-place -s --split-exp= --split-exp-file= "
        "!--security-enable-system-operator"},
    OptionTable{"xmllint", "", "",
        "-version -copy -recover -huge -nowarning -noent -noenc -nonet -nodict -noout -htmlout "
        "-nowrap -valid -postvalid -dtdvalid= -dtdvalidfpi= -dtdattr -timing -repeat -insert "
        "-compress -html -xmlout -push -memory -maxmem= -nodefdtd -schema= -relaxng= "
        "-schematron= -xpath= -xinclude -noxincludenode -nofixup-base-uris -loaddtd -load-trace "
        "-catalogs -nocatalogs -auto -c14n -c14n11 -exc-c14n -encode= -format -pretty= -dropdtd "
        "-nsclean -testIO -noblanks -nocdata -pattern= -path= -stream -walker -sax -sax1 -sax2 "
        "-quiet -oldxml10 -debug -debugent",
        "-output= -o= !-shell", OptionStyle::words},
    OptionTable{"sdiff diff3", "*", "WIo", "*", "-o --output= !--diff-program="},
    OptionTable{"patch", "*", "BDdFgioprVYz", "*", "!-e !--ed ~-o ~--output= -r --reject-file="},
    OptionTable{"install", "*", "gmotS", "*", "!--strip-program="},
    OptionTable{"pandoc", "*", "frtToVMFLHBAcDd", "*",
        "~-o ~--output= !-F !--filter= !-L !--lua-filter= !--pdf-engine= !--pdf-engine-opt= "
        "!--template= !-d !--defaults= --extract-media= --log= !--data-dir= "
        "!--metadata-file= !--syntax-definition= !--reference-doc= --print-default*"},
    OptionTable{"nm objdump readelf strings size addr2line c++filt strip objcopy ranlib ar "
                "gcc-nm gcc-ar gcc-ranlib llvm-nm llvm-objdump llvm-ar",
        "*", "", "*", "!--plugin= !--plugin*"},
    OptionTable{"protoc", "*", "Io", "*", "!--plugin= !--plugin*"},
    OptionTable{"exiftool", "", "", "*", "!-config= !-execute* -o= -overwrite_original* -w* -W*",
        OptionStyle::words},
    OptionTable{"yt-dlp youtube-dl", "*", "", "*",
        "!--exec* !--downloader= !--external-downloader= !--config-location* !--plugin-dirs= "
        "!--postprocessor-args= !--use-postprocessor= !--netrc-cmd= !--ppa="},
};
// clang-format on

}  // namespace

std::span<const OptionTable> text_tables() { return kTables; }

}  // namespace agentrt::policy::shell
