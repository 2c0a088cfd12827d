// Programs whose job is to run another one.
//
// The wrapper and what it runs are both judged. What this cannot find for certain is a hazard that
// no rule of words covers.
#include <algorithm>
#include <array>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {
namespace {

struct Wrapper {
  std::string_view names;
  std::string_view valued;       // letters of options with a value
  std::string_view long_valued;  // the same for long ones, when the value is the next word
  std::size_t operands;          // before the command
  OptionList hazards;
};

// clang-format off
constexpr std::array kWrappers = {
    Wrapper{"nohup", "", "", 0, {}},
    Wrapper{"nice", "n", "--adjustment", 0, {}},
    Wrapper{"ionice", "cnpPu", "--class --classdata --pid", 0, {}},
    Wrapper{"chrt", "TPDp", "", 1, {}},
    Wrapper{"taskset", "", "", 1, {}},
    Wrapper{"timeout", "ks", "--kill-after --signal", 1, {}},
    Wrapper{"stdbuf", "ioe", "--input --output --error", 0, {}},
    Wrapper{"setsid", "", "", 0, {}},
    Wrapper{"time", "fo", "--format --output", 0, {"f", "-o --output"}},
    Wrapper{"sudo", "CDghpRrTtUu", "--user --group --host --prompt --chdir --chroot "
            "--close-from --role --type --other-user --command-timeout", 0,
            {"CDghpRrTtUu", "!-e !--edit !-s !--shell !-i !--login !-A !--askpass"}},
    Wrapper{"doas", "Cu", "", 0, {"u", "!-s !-C"}},
    Wrapper{"setpriv", "", "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set "
            "--securebits --pdeathsig --selinux-label --apparmor-profile --ruid --euid --rgid "
            "--egid", 0, {}},
    Wrapper{"prlimit", "op", "--pid --output", 0, {}},
    Wrapper{"unshare", "RwSG", "--root --wd --setuid --setgid --map-user --map-group", 0, {}},
    Wrapper{"nsenter", "tSGW", "--target --setuid --setgid", 0, {}},
    Wrapper{"chroot", "", "--userspec --groups", 1, {}},
    Wrapper{"flock", "wE", "--timeout --wait --conflict-exit-code", 1, {"wE", "!-c !--command"}},
    Wrapper{"strace ltrace", "abeEIoOpPsSuUX", "--output --trace --attach --string-limit", 0,
            {"abeEIOpPsSuUX", "-o --output !-E --env !-D"}},
    Wrapper{"valgrind", "", "", 0, {"", "--log-file --xml-file !--db-command !--tool"}},
    Wrapper{"fakeroot", "lsibf", "--lib --faked", 0, {"", "!-l !--lib !--faked !-f -s"}},
    Wrapper{"dbus-run-session", "", "--config-file --dbus-daemon", 0,
            {"", "!--config-file !--dbus-daemon"}},
    Wrapper{"xvfb-run", "efnpsw", "", 0, {"", "-e -f"}},
    Wrapper{"systemd-inhibit", "", "--what --who --why --mode", 0, {}},
    Wrapper{"caffeinate", "tw", "", 0, {}},
    Wrapper{"busybox toybox", "", "", 0, {}},
    Wrapper{"builtin", "", "", 0, {}},
    Wrapper{"exec", "a", "", 0, {}},
};
// clang-format on

// Long options that take no value.
constexpr std::string_view kFlags =
    "--foreground --preserve-status --verbose --fork --wait --ctty --nnp --no-new-privs "
    "--clear-groups --keep-groups --init-groups --non-interactive --preserve-env --set-home "
    "--background --stdin --map-root-user --mount-proc --follow-forks --differences --no-title "
    "--color --precise --errexit --version --help --cpu-list --all-tasks --idle --nonblock "
    "--shared "
    "--exclusive --close";

// The tail of `args` from `at` on as the inner command.
void inner(const Args& args, std::size_t at, Findings& out) {
  if (at < args.size())
    out.commands.push_back({at, Args(args.begin() + static_cast<std::ptrdiff_t>(at), args.end())});
}

// Steps over the options from `at` on; where they end, or kNoWord when that is not certain.
std::size_t after_options(const Args& args, std::size_t at, std::string_view valued,
                          std::string_view long_valued) {
  while (at < args.size()) {
    const Arg& arg = args[at];
    if (!arg.known) return arg.option || !arg.single ? kNoWord : at;
    if (arg.text == "--") return at + 1;
    if (!arg.text.starts_with('-') || arg.text == "-") return at;
    ++at;
    if (arg.text.starts_with("--")) {
      if (one_of(arg.text, long_valued))
        ++at;
      else if (!arg.text.contains('=') && !one_of(arg.text, kFlags))
        return kNoWord;  // abbreviated or unknown: the next word may be its value
    } else {
      // The value is the rest of the bundle, or the next word when there is none.
      const std::size_t letter = arg.text.find_first_of(valued, 1);
      if (!valued.empty() && letter != std::string::npos && letter + 1 == arg.text.size()) ++at;
    }
  }
  return at;
}

void wrapped(const Wrapper& wrapper, const Args& args, Findings& out) {
  find_options(wrapper.hazards, args, 1, out);
  std::size_t at = after_options(args, 1, wrapper.valued, wrapper.long_valued);
  for (std::size_t i = 0; i < wrapper.operands && at < args.size(); ++i, ++at)
    if (!args[at].single || args[at].option) at = kNoWord - 1;
  if (at == kNoWord) return out.runs(kNoWord, "what " + args[0].text + " runs is computed");
  // sudo A=b: variables for the command.
  while (one_of(args[0].text, "sudo doas") && at < args.size() && args[at].text.contains('=')) {
    out.runs(at, "a variable steers the command");
    ++at;
  }
  inner(args, at, out);
}

// env -S splits a text into words; only one of plain words is read.
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

// The words that xargs reads come after its own, or in place of a mark.
void xargs(const Args& args, Findings& out) {
  std::string mark;
  std::size_t at = 1;
  for (; at < args.size() && args[at].known && args[at].text.starts_with('-'); ++at) {
    const std::string& text = args[at].text;
    if (text == "--") {
      ++at;
      break;
    }
    if (text.starts_with("--")) {
      const std::string_view option = std::string_view(text).substr(0, text.find('='));
      const bool valued =
          one_of(option, "--arg-file --delimiter --max-args --max-procs --max-chars");
      if (!valued && !one_of(option, "--null --no-run-if-empty --verbose --exit --open-tty"))
        return out.runs(kNoWord, "an option of xargs is not read");
      if (valued && option == text) ++at;
    } else if (const std::size_t letter = text.find_first_of("aEdILnPsiel", 1);
               letter != std::string::npos) {
      // The rest of the bundle is the value; -i, -e and -l take no other.
      std::string value = text.substr(letter + 1);
      const bool optional = std::string_view("iel").contains(text[letter]);
      if (value.empty() && !optional && ++at < args.size()) value = args[at].text;
      if (text[letter] == 'i' && value.empty()) value = "{}";
      const bool replaces = text[letter] == 'I' || text[letter] == 'i';
      if (replaces) mark = value;
      if (replaces && mark.empty()) return out.runs(kNoWord, "what xargs puts in is computed");
    }
  }
  if (at >= args.size()) return;  // it runs echo
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
    if (args[at].text.find_first_of("vV") != std::string::npos) return;  // it only looks
  }
  inner(args, at, out);
}

// watch hands its words to sh -c, joined by spaces.
void joined(const Args& args, std::size_t at, Findings& out) {
  if (at >= args.size()) return;
  std::string text;
  for (std::size_t i = at; i < args.size(); ++i) {
    if (!args[i].known) return out.runs(kNoWord, "what " + args[0].text + " runs is computed");
    text += (i > at ? " " : "") + args[i].text;
  }
  out.texts.push_back({at, std::move(text)});
}

void ssh(const Args& args, Findings& out) {
  find_options({"bcDEFIiJLlmOopQRSWw", "!-o !-F !-E !-I !-J !-L !-R !-D !-w !-W !-O !-S"}, args, 1,
               out);
  const std::size_t host = after_options(args, 1, "BbcDEeFIiJLlmOopQRSWw", "");
  if (host == kNoWord || host + 1 < args.size())
    out.runs(host == kNoWord ? kNoWord : args.size() - 1, "ssh runs a command on another machine");
  else if (host < args.size())
    out.runs(kNoWord, "ssh runs what it reads on another machine");
}

}  // namespace

bool find_in_wrappers(std::string_view program, const Args& args, Findings& out) {
  for (const Wrapper& wrapper : kWrappers)
    if (one_of(program, wrapper.names)) {
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
    joined(args, std::min(after_options(args, 1, "nq", "--interval --equexit"), args.size()), out);
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
                  "softlimit chpst cgexec choom hyperfine perf gdbserver"))
    out.runs(kNoWord, std::string(program) + " runs what this reader does not look into");
  else
    return false;
  return true;
}

}  // namespace agentrt::policy::shell
