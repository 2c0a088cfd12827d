// Programs whose job is to run another program.
//
// Wrapper and inner command are both judged. An inner command that cannot be determined is a hazard
// that no words rule covers.
#include <algorithm>
#include <array>

#include "policy/shell/findings.h"
#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

struct Wrapper {
  OptionTable options;
  std::size_t operands = 0;  // words between the options and the command
};

constexpr auto kFirst = OptionStyle::before_operand;

// clang-format off
constexpr std::array kWrappers = {
    Wrapper{{"nohup eatmydata chronic ifne ccache sccache", "", "", "", "", kFirst}},
    Wrapper{{"nice gnice", "0123456789", "n", "--adjustment=", "", kFirst}},
    Wrapper{{"ionice", "t", "cnpPu", "--class= --classdata= --pid= --ignore", "", kFirst}},
    Wrapper{{"chrt", "bdfioramRv", "TPD", "--batch --deadline --fifo --idle --other --rr "
        "--reset-on-fork --sched-runtime= --sched-period= --sched-deadline= --all-tasks --verbose",
        "", kFirst}, 1},
    Wrapper{{"taskset", "ac", "", "--all-tasks --cpu-list", "", kFirst}, 1},
    Wrapper{{"timeout gtimeout", "fpv", "ks",
        "--preserve-status --foreground --kill-after= --signal= --verbose", "", kFirst}, 1},
    Wrapper{{"stdbuf", "", "ioe", "--input= --output= --error=", "", kFirst}},
    Wrapper{{"setsid", "cfw", "", "--ctty --fork --wait", "", kFirst}},
    Wrapper{{"time", "apqv", "fo", "--append --format= --portability --quiet --verbose",
        "-o --output=", kFirst}},
    Wrapper{{"sudo", "BbEHklnNPSKv", "CDghpRrTtUu",
        "--user= --group= --host= --prompt= --chdir= --chroot= --close-from= --role= --type= "
        "--other-user= --command-timeout= --preserve-env? --set-home --non-interactive --stdin "
        "--background --reset-timestamp --preserve-groups --bell --no-update",
        "!-e !--edit !-s !--shell !-i !--login !-A !--askpass", kFirst}},
    Wrapper{{"doas", "Ln", "Cu", "", "!-s !-C", kFirst}},
    Wrapper{{"setpriv", "d", "",
        "--dump --nnp --no-new-privs --ambient-caps= --inh-caps= --bounding-set= --ruid= --euid= "
        "--rgid= --egid= --reuid= --regid= --clear-groups --keep-groups --init-groups --groups= "
        "--securebits= --pdeathsig= --selinux-label= --apparmor-profile= --reset-env", "", kFirst}},
    Wrapper{{"prlimit", "", "opc?d?e?f?i?l?m?n?q?r?s?t?u?v?x?y?",
        "--pid= --output= --noheadings --raw --verbose --core? --data? --nice? --fsize? "
        "--sigpending? --memlock? --rss? --nofile? --msgqueue? --rtprio? --stack? --cpu? --nproc? "
        "--as? --locks? --rttime?", "", kFirst}},
    Wrapper{{"unshare", "fruUimnpCTc", "RwSG",
        "--mount? --uts? --ipc? --net? --pid? --user? --cgroup? --time? --fork --map-user= "
        "--map-group= --map-root-user --map-current-user --map-auto --map-users= --map-groups= "
        "--kill-child? --mount-proc? --propagation= --setgroups= --keep-caps --root= --wd= "
        "--setuid= --setgid=", "", kFirst}},
    Wrapper{{"nsenter", "aFZ", "tSGm?u?i?n?p?C?U?T?r?w?W",
        "--all --target= --mount? --uts? --ipc? --net? --pid? --cgroup? --user? --time? --setuid= "
        "--setgid= --preserve-credentials --root? --wd? --wdns= --no-fork --follow-context", "",
        kFirst}},
    Wrapper{{"chroot", "", "", "--userspec= --groups= --skip-chdir", "", kFirst}, 1},
    Wrapper{{"flock", "sexnuFo", "wEc",
        "--shared --exclusive --unlock --nonblock --nb --timeout= --wait= --conflict-exit-code= "
        "--close --no-fork --verbose", "!-c !--command=", kFirst}, 1},
    Wrapper{{"strace ltrace", "cCdfhikqrtTvVwxyYzZFA", "abeEIoOpPsSuUX",
        "--trace= --attach= --string-limit= --follow-forks --summary --summary-only "
        "--relative-timestamps --absolute-timestamps --quiet --decode-fds --no-abbrev",
        "-o --output= !-E !--env= !-D !--daemonize?", kFirst}},
    Wrapper{{"valgrind", "hqv", "", "--leak-check= --show-leak-kinds= --track-origins= "
        "--error-exitcode= --suppressions= --num-callers= --trace-children= --quiet --verbose "
        "--gen-suppressions= --show-reachable= --track-fds= --log-fd= --xml= "
        "--errors-for-leak-kinds=",
        "--log-file= --xml-file= !--db-command= !^--tool= --log-socket= --callgrind-out-file= "
        "--massif-out-file=", kFirst}},
    Wrapper{{"fakeroot", "uhv", "lsibf", "--unknown-is-real",
        "!-l !--lib= !--faked= !-f -s", kFirst}},
    Wrapper{{"dbus-run-session", "", "", "", "!--config-file= !--dbus-daemon=", kFirst}},
    Wrapper{{"xvfb-run", "al", "efnpsw", "--auto-servernum --server-num= --server-args= --wait=",
        "-e -f --error-file= --auth-file=", kFirst}},
    Wrapper{{"systemd-inhibit", "", "", "--what= --who= --why= --mode= --list", "", kFirst}},
    Wrapper{{"caffeinate", "dimsu", "tw", "", "", kFirst}},
    Wrapper{{"busybox toybox", "", "", "--list --list-full", "!--install", kFirst}},
    Wrapper{{"builtin", "", "", "", "", kFirst}},
    Wrapper{{"exec", "cl", "a", "", "", kFirst}},
};
// clang-format on

constexpr OptionTable kWatch{
    "watch",
    "bcCdegprtwfx",
    "nqs",
    "--beep --color --no-color --differences? --errexit --chgexit --equexit= --interval= "
    "--precise --no-rerun --no-title --no-wrap --exec --follow",
    "--shotsdir= -s",
    kFirst};
constexpr OptionTable kSsh{"ssh",
                           "46AaCfGgKkMNnqsTtVvXxYy",
                           "BbcDEeFIiJLlmOopPQRSWw",
                           "",
                           "!-o !-F !-E !-I !-J !-L !-R !-D !-w !-W !-O !-S !-P !-A !-X !-Y",
                           kFirst};

// Adds args[at…] as the inner command.
void inner(const Args& args, std::size_t at, Findings& out) {
  if (at < args.size())
    out.commands.push_back({at, Args(args.begin() + static_cast<std::ptrdiff_t>(at), args.end())});
}

// The index of the inner command after options and operands; kNoWord if uncertain, args.size() if
// there is none.
std::size_t command_at(const OptionReading& reading, std::size_t operands, const Args& args) {
  if (reading.unknown) return kNoWord;
  // Words after the command word belong to the inner command.
  const std::size_t shown = std::min(operands + 1, reading.operands.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Arg& arg = args[reading.operands[i]];
    if (!arg.known && (!arg.single || arg.option)) return kNoWord;
  }
  return operands < reading.operands.size() ? reading.operands[operands] : args.size();
}

void wrapped(const Wrapper& wrapper, const Args& args, Findings& out) {
  const OptionReading reading = read_options(wrapper.options, args, 1, out);
  std::size_t at = command_at(reading, wrapper.operands, args);
  if (at == kNoWord) return out.runs(kNoWord, "what " + args[0].text + " runs is computed");
  // sudo A=b: variables for the inner command.
  while (one_of(wrapper.options.names, "sudo doas") && at < args.size() &&
         args[at].text.contains('=')) {
    out.runs(at, "a variable steers the command");
    ++at;
  }
  inner(args, at, out);
}

// env -S splits a text into words; only a text of plain words is accepted.
bool split_string(const Args& args, std::size_t at, std::string text, Findings& out) {
  const auto words = plain_words(text);
  if (!words || text.find_first_of("\\$#") != std::string::npos) {
    out.runs(kNoWord, "the text that env -S splits is not read");
    return false;
  }
  Args made;
  made.push_back(known_arg("env"));
  for (const std::string& word : *words) made.push_back(known_arg(word));
  made.insert(made.end(), args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  out.commands.push_back({at - 1, std::move(made)});
  return true;
}

void env(const Args& args, Findings& out) {
  std::size_t at = 1;
  for (; at < args.size() && args[at].known && args[at].option; ++at) {
    const std::string& text = args[at].text;
    if (text == "--") {
      ++at;
      break;
    }
    if (text == "-" || text == "-i" || text == "--ignore-environment" || text == "-0" ||
        text == "--null" || text == "-v" || text == "--debug" || text.starts_with("--unset="))
      continue;
    if (text.starts_with("-u") || text == "--unset" || text == "-C" || text == "--chdir") {
      if (text.size() == 2 || text == "--unset" || text == "--chdir") ++at;
      continue;
    }
    if (text.starts_with("--split-string=")) {
      split_string(args, at + 1, text.substr(15), out);
      return;
    }
    const std::size_t s = text.find('S');
    const bool splits = !text.starts_with("--") && s != std::string::npos;
    if (splits && s + 1 < text.size()) {
      split_string(args, at + 1, text.substr(s + 1), out);
      return;
    }
    if ((splits || text == "--split-string") && at + 1 < args.size() && args[at + 1].known) {
      split_string(args, at + 2, args[at + 1].text, out);
      return;
    }
    return out.runs(kNoWord, "an option of env is not read");
  }
  for (; at < args.size() && args[at].text.contains('='); ++at) {
    const std::size_t equals = args[at].text.find('=');
    Assignment given{.name = args[at].text.substr(0, equals), .value = {}, .exported = true};
    given.value.pieces.push_back({args[at].known ? Piece::Kind::text : Piece::Kind::computed,
                                  args[at].text.substr(equals + 1), Quoting::quoted});
    out.exported.push_back(std::move(given));
  }
  if (at < args.size() && !args[at].known) out.runs(kNoWord, "what env runs is computed");
  inner(args, at, out);
}

// Words that xargs reads from its input are appended, or replace a mark (-I).
void xargs(const Args& args, Findings& out) {
  std::string mark;
  std::size_t at = 1;
  for (; at < args.size() && args[at].known && args[at].text.starts_with('-'); ++at) {
    const std::string& text = args[at].text;
    if (text == "--") {
      ++at;
      break;
    }
    const std::size_t flags = text.find_first_not_of("0oprtx", 1);
    const bool listed = flags == text.npos || std::string_view("aEdILnPsiel").contains(text[flags]);
    if (!text.starts_with("--") && !listed)
      return out.runs(kNoWord, "an option of xargs is not read");
    if (text.starts_with("--")) {
      const std::string_view option = std::string_view(text).substr(0, text.find('='));
      const bool valued =
          one_of(option, "--arg-file --delimiter --max-args --max-procs --max-chars");
      if (!valued && !one_of(option, "--null --no-run-if-empty --verbose --exit --open-tty"))
        return out.runs(kNoWord, "an option of xargs is not read");
      if (valued && option == text && ++at < args.size() && !args[at].single)
        return out.runs(kNoWord, "a value of xargs is computed");
    } else if (flags != text.npos) {
      // The rest of the bundle is the value; -i, -e and -l take only such an attached value.
      const char letter = text[flags];
      std::string value = text.substr(flags + 1);
      const bool optional = std::string_view("iel").contains(letter);
      const bool replaces = letter == 'I' || letter == 'i';
      if (value.empty() && !optional && ++at < args.size()) {
        value = args[at].text;
        if (!args[at].single || (replaces && !args[at].known))
          return out.runs(kNoWord, "a value of xargs is computed");
      }
      if (letter == 'i' && value.empty()) value = "{}";
      if (replaces) mark = value;
      if (replaces && mark.empty()) return out.runs(kNoWord, "what xargs puts in is computed");
    }
  }
  if (at >= args.size()) return;  // without a command, xargs runs echo
  Args made(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  if (mark.empty()) {
    made.push_back(unknown_arg("…"));
  } else {
    for (Arg& arg : made)
      if (arg.text.contains(mark)) {
        const bool operand = !arg.text.starts_with(mark) && !arg.text.starts_with('-');
        arg.known = false;
        arg.option = !operand;
      }
  }
  out.commands.push_back({at, std::move(made)});
}

void command_builtin(const Args& args, Findings& out) {
  std::size_t at = 1;
  for (; at < args.size() && args[at].known && args[at].text.starts_with('-'); ++at) {
    if (args[at].text == "--") {
      ++at;
      break;
    }
    // Command -v only prints a path.
    if (args[at].text.find_first_of("vV") != std::string::npos) return;
  }
  if (at < args.size() && !args[at].known && (args[at].option || !args[at].single))
    return out.runs(kNoWord, "what command runs is computed");
  inner(args, at, out);
}

// watch joins its words with spaces and passes them to sh -c.
void joined(const Args& args, std::size_t at, Findings& out) {
  if (at >= args.size()) return;
  std::string text;
  for (std::size_t i = at; i < args.size(); ++i) {
    if (!args[i].known) return out.runs(kNoWord, "what " + args[0].text + " runs is computed");
    text += (i > at ? " " : "") + args[i].text;
  }
  out.texts.push_back({at, std::move(text)});
}

void watch(const Args& args, Findings& out) {
  const OptionReading reading = read_options(kWatch, args, 1, out);
  const std::size_t at = command_at(reading, 0, args);
  if (at == kNoWord) return out.runs(kNoWord, "what watch runs is computed");
  if (reading.find('x', "--exec"))
    inner(args, at, out);
  else
    joined(args, at, out);
}

void ssh(const Args& args, Findings& out) {
  const std::size_t host = command_at(read_options(kSsh, args, 1, out), 0, args);
  if (host == kNoWord || host + 1 < args.size())
    out.runs(host == kNoWord ? kNoWord : args.size() - 1, "ssh runs a command on another machine");
  else if (host < args.size())
    out.runs(kNoWord, "ssh runs what it reads on another machine");
}

}  // namespace

bool find_in_wrappers(std::string_view program, const Args& args, Findings& out) {
  for (const Wrapper& wrapper : kWrappers)
    if (one_of(program, wrapper.options.names)) {
      wrapped(wrapper, args, out);
      return true;
    }
  if (program == "env")
    env(args, out);
  else if (program == "xargs")
    xargs(args, out);
  else if (program == "command")
    command_builtin(args, out);
  else if (program == "watch")
    watch(args, out);
  else if (program == "ssh")
    ssh(args, out);
  else if (one_of(program,
                  "parallel script run-parts start-stop-daemon at batch crontab tmux "
                  "screen systemd-run su runuser pkexec socat expect unbuffer rlwrap "
                  "entr inotifywait incrontab cron anacron daemon daemonize setarch "
                  "linux32 linux64 i386 x86_64 uname26 firejail bwrap proot torsocks "
                  "proxychains proxychains4 ld.so ld-linux-x86-64.so.2 nix-shell direnv "
                  "capsh newgrp sg logrotate openvt xterm "
                  "gnome-terminal konsole dtach abduco reptyr catchsegv numactl cpulimit "
                  "softlimit chpst cgexec choom hyperfine perf gdbserver watchexec nodemon "
                  "concurrently npm-run-all run-s run-p env-cmd dotenv onchange chokidar "
                  "nix-run devbox sftp ftp lftp mail mailx "
                  "ssh-agent dbus-launch xinit startx chamber gosu su-exec setuidgid tini "
                  "dumb-init rr "
                  "heaptrack samply sshpass autossh mosh faketime bear scan-build distcc zrun pee "
                  "mispipe retry fswatch bpftrace xdotool pueue task-spooler tsp"))
    out.runs(kNoWord, std::string(program) + " runs what this reader does not look into");
  else
    return false;
  return true;
}

}  // namespace agentrt::policy::shell
