// What bash runs was judged: random texts go through the permission policy and, when it allows
// them, through real bash in an empty folder. Every program that then ran must be one of the parts
// that were judged, with the words that were foreseen, and no file may appear that nobody foresaw.
//
// usage: shell_differential MARKER [--seed S] [--count N] [--show]
//
// The texts are drawn from a grammar of everything the reader knows, then damaged a little. Their
// commands are links to MARKER, which writes down its words; a few harmless programs are the real
// ones. The same seed is the same run.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "policy/permission.h"

namespace {

using namespace agentrt;
using namespace agentrt::policy;
namespace fs = std::filesystem;

constexpr std::string_view kMarkers[] = {"a1", "a2", "s1", "x1", "x2", "--x"};
constexpr std::string_view kReal[] = {"bash", "sh",   "env", "xargs", "timeout",
                                      "nice", "find", "cat", "sort"};
constexpr auto kTimeout = std::chrono::milliseconds(700);

const std::vector<std::string> kAllowed = {
    "shell(a1:*)",   "shell(a2:*)",      "shell(s1 sub:*)",  "shell(echo:*)",    "shell(true)",
    "shell(false)",  "shell(test:*)",    "shell([:*)",       "shell(printf:*)",  "shell(read:*)",
    "shell(set:*)",  "shell(unset:*)",   "shell(eval:*)",    "shell(trap:*)",    "shell(exec:*)",
    "shell(wait:*)", "shell(command:*)", "shell(builtin:*)", "shell(::*)",       "shell(export:*)",
    "shell(env:*)",  "shell(xargs:*)",   "shell(timeout:*)", "shell(nice:*)",    "shell(find:*)",
    "shell(cat:*)",  "shell(sort:*)",    "shell(bash:*)",    "shell(sh:*)",      "shell(declare:*)",
    "shell(cd:*)",   "shell(let:*)",     "shell(alias:*)",   "shell(shopt:*)",   "shell(local:*)",
    "shell(break)",  "shell(continue)",  "shell(return)",    "shell(mapfile:*)", "shell(hash:*)"};

// --- texts ---

class Texts {
 public:
  explicit Texts(std::uint64_t seed) : random_(seed) {}

  std::string next() {
    std::string text = list(3);
    while (below(4) == 0) text += one({"\n", "; ", " && ", " || ", " | ", " & "}) + list(2);
    for (int left = below(3) == 0 ? 1 + below(3) : 0; left > 0; --left) damage(text);
    return text;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::string one(std::initializer_list<const char*> of) {
    return of.begin()[below(static_cast<int>(of.size()))];
  }

  // Mostly what may run; now and then what may not.
  std::string program() {
    switch (below(12)) {
      case 0:
        return one({"x1", "x2", "s1", "s1 sub", "s1 su'b'", "\"a1\"", "a\\1", "'a'2", "$'a1'"});
      case 1:
        return one({"echo", "true", ":", "printf %s", "test", "[ a = a ] &&  a1", "set --",
                    "read v <<<", "cat", "sort"});
      case 2:
        return one({"eval", "command", "builtin", "exec", "env", "xargs", "timeout 1", "nice -n 1",
                    "bash -c", "sh -c", "trap", "find . -exec"});
      default:
        return one({"a1", "a2", "a1", "s1 sub"});
    }
  }

  std::string word(int depth) {
    switch (below(depth > 0 ? 22 : 9)) {
      case 0:
        return one({"w", "x1", "sub", "-n", "--", "a b", "-c", "+"});
      case 1:
        return "'" + one({"q", "a;x1", "$(x1)", "\"", "`x1`", "\\", "#", "x1 #"}) + "'";
      case 2:
        return "\"" +
               one({"d", "a;x1", "'", "\\\"", "\\$(x1)", "\\`x1\\`", "#", "\\\\", "a\\\nb"}) + "\"";
      case 3:
        return one(
            {"\\;", "\\\n", "\\#", "a#b", "\\'", "\\\"", "\\$", "\\\\", "\\&", "\\|", "\\ x1"});
      case 4:
        return one({"$'\\n'", "$'\\'x1'", "$'\\x41'", "$'a\\\\'", "$\"d\"", "$'\\101\\0'", "$"});
      case 5:
        return one({"*", "?", "[a]", "{a,b}", "{x1,a}", "{1..3}", "a{,x}", "{a", "{}", "~", "a*"});
      case 6:
        return one({"$v", "\"$v\"", "${v}", "${v:-d}", "${#v}", "${v%a}", "${v/a/b}", "$#", "$?",
                    "$$x", "\"${v:-a b}\"", "$@", "\"$@\"", "${v:1:2}", "${v^^}"});
      case 7:
        return one({"$((1+2))", "$((v))", "$[1]", "$((1<2))", "$(( (1) ))", "$((v=1))"});
      case 8:
        return one({"#c", "a=b", "2", "1>&2", "é", "=", "!", "time", "if", "then", "done", "}"});
      case 9:
        return "$(" + list(depth - 1) + ")";
      case 10:
        return "\"$(" + list(depth - 1) + ")\"";
      case 11:
        return "`" + escaped(list(depth - 1)) + "`";
      case 12:
        return "\"`" + escaped(list(depth - 1)) + "`\"";
      case 13:
        return "${v:-$(" + list(depth - 1) + ")}";
      case 14:
        return "<(" + list(depth - 1) + ")";
      case 15:
        return "${v" + one({":-", "-", ":+", "+", "#", "%", "/", ":=", ":?"}) + word(depth - 1) +
               "}";
      case 16:
        return "\"${v" + one({":-", "-", ":+", "#", "/"}) + word(depth - 1) + "}\"";
      case 17:
        return "$((1 + " + one({"$(", "v[$("}) + list(depth - 1) + one({")", ")]"}) + "))";
      case 18:
        return quoted_list(depth);
      default:
        return word(0) + word(0);
    }
  }

  std::string quoted_list(int depth) {
    std::string inner = list(depth - 1), out = "'";
    for (const char c : inner) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }

  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '`' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  }

  std::string redirection(int depth) {
    return one({" >/dev/null", " 2>&1", " </dev/null", " >&2", " 2>/dev/null", " <<<", " >", " >>",
                " <&-", " &>/dev/null", " 3>&1", " >|", " <>", " {fd}>&1"}) +
           (below(2) ? "" : word(depth > 0 ? depth - 1 : 0));
  }

  std::string simple(int depth) {
    std::string out;
    if (below(10) == 0)
      out += one({"v=1 ", "v=a ", "LC_ALL=C ", "v='a b' ", "v=-x ", "v+=b ", "a=(x y) ", "v[0]=1 ",
                  "PATH=. ", "IFS=a "});
    out += program();
    for (int left = below(4); left > 0; --left)
      out += one({" ", " ", "  ", "\t", " \\\n"}) + word(depth);
    if (below(6) == 0) out += redirection(depth);
    return out;
  }

  std::string here(int depth) {
    const std::string end = one({"E", "E", "'E'", "\\E", "\"E\""});
    const std::string body = one({"text", "$v", "a\\", "\\$(x1)", "'", "\"", "E ", "\tE", "x1"});
    return "cat <<" + one({"", "-", " "}) + end + one({"", "; a1", " | a1", " && a2 w"}) + "\n" +
           body + (below(3) == 0 && depth > 0 ? "$(" + list(depth - 1) + ")" : "") + "\nE\n" +
           simple(0);
  }

  std::string command(int depth) {
    if (depth <= 0) return simple(0);
    switch (below(24)) {
      case 0:
        return "(" + list(depth - 1) + ")";
      case 1:
        return "{ " + list(depth - 1) + "; }";
      case 2:
        return "if " + list(depth - 1) + "; then " + list(depth - 1) + "; " +
               (below(2) ? "else " + list(depth - 1) + "; " : "") + "fi";
      case 3:
        return "for v in " + word(depth - 1) + " " + word(0) + "; do " + list(depth - 1) + "; done";
      case 4:
        return one({"while false; do ", "until true; do "}) + list(depth - 1) + "; done";
      case 5:
        return "case " + word(0) + " in " + one({"(w)", "a|w)", "*)", "'x')", "esac)"}) + " " +
               list(depth - 1) + one({" ;;", ";;", " ;&", "\n;;&"}) + " esac";
      case 6:
        return "f() { " + list(depth - 1) + "; }";
      case 7:
        return "! " + command(depth - 1);
      case 8:
        return "time " + one({"", "-p ", "-- "}) + command(depth - 1);
      case 9:
        return "[[ " + word(0) + one({" == ", " = ", " =~ ", " -eq ", " != ", " < "}) +
               word(depth - 1) + " ]]";
      case 10:
        return "((" + one({"1", "v", "v++", "1+1", "v=2"}) + "))";
      case 11:
        return here(depth);
      case 12:
        return "for ((v=0;v<2;v++)); do " + list(depth - 1) + "; done";
      case 13:
        return "coproc " + command(depth - 1);
      case 14:
        return simple(depth) + " | " + command(depth - 1);
      case 15:
        return "function g { " + list(depth - 1) + "; }";
      default:
        return simple(depth);
    }
  }

  std::string list(int depth) {
    std::string out = command(depth);
    while (below(4) == 0)
      out += one({"; ", "\n", " && ", " || ", " & ", "|", "|&", ";", " # c\n", "\n\n"}) +
             command(depth - 1);
    return out;
  }

  void damage(std::string& text) {
    if (text.empty()) return;
    const auto at = static_cast<std::size_t>(below(static_cast<int>(text.size())));
    switch (below(3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, one({"'",  "\"", "`",   "\\", "$", "(", ")", "{",  "}",   "\n",
                             ";",  "&",  "|",   "<",  ">", "#", " ", "\t", "\r",  "$(",
                             "<(", "x1", ";x1", "=",  "[", "]", "!", "*",  "<<E", "\\\n"}));
        break;
      default:
        text[at] = one({"'", "\"", "`", "\\", "$", "(", ")", "\n", ";", " ", "#"})[0];
        break;
    }
  }

  std::mt19937_64 random_;
};

// --- the folder ---

struct Ran {
  std::vector<std::string> words;
};

class Stage {
 public:
  explicit Stage(const fs::path& marker) {
    std::string name = (fs::temp_directory_path() / "shell_differential.XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directory(root_ / "bin");
    fs::create_directory(root_ / "here");
    fs::copy_file(marker, root_ / "bin/marker");
    for (const std::string_view link : kMarkers)
      fs::create_hard_link(root_ / "bin/marker", root_ / "bin" / link);
    for (const std::string_view real : kReal) {
      const fs::path program = fs::path("/usr/bin") / real;
      if (fs::exists(program)) fs::create_symlink(program, root_ / "bin" / real);
    }
    for (const fs::path& open : {root_, root_ / "here"}) fs::permissions(open, fs::perms::all);
    clear();
  }
  ~Stage() { fs::remove_all(root_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void clear() {
    std::ofstream(root_ / "ran", std::ios::trunc).close();
    fs::permissions(root_ / "ran", fs::perms::all);
    for (const auto& entry : fs::directory_iterator(root_ / "here")) fs::remove_all(entry);
  }

  void run(const std::string& text) {
    const pid_t child = fork();
    if (child == 0) become(text);
    const auto end = std::chrono::steady_clock::now() + kTimeout;
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        kill(-child, SIGKILL);
        waitpid(child, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    if (text.contains('&') || text.contains("coproc") || text.contains(">(") || text.contains("<("))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // what goes on behind it
    kill(-child, SIGKILL);
  }

  std::vector<Ran> ran() const {
    std::ifstream file(root_ / "ran");
    std::string all((std::istreambuf_iterator<char>(file)), {});
    std::vector<Ran> out;
    std::size_t at = 0;
    const auto next = [&] {
      const std::size_t end = std::min(all.find('\0', at), all.size());
      std::string word = all.substr(at, end - at);
      at = end + 1;
      return word;
    };
    while (at < all.size()) {
      Ran one;
      for (int left = std::stoi(next()); left > 0; --left) one.words.push_back(next());
      out.push_back(std::move(one));
    }
    return out;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(root_ / "here"))
      out.push_back(entry.path().filename());
    return out;
  }

 private:
  // Without rights, within narrow limits, in a group of its own.
  [[noreturn]] void become(const std::string& text) {
    setpgid(0, 0);
    const rlimit processes{40, 40}, seconds{1, 1}, bytes{1 << 16, 1 << 16};
    if (geteuid() == 0) {
      setrlimit(RLIMIT_NPROC, &processes);
      if (setgid(54'321) != 0 || setuid(54'321) != 0) _exit(9);
    }
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_FSIZE, &bytes);
    if (chdir((root_ / "here").c_str()) != 0) _exit(9);
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) dup2(null, i);
    const std::string path = "PATH=" + (root_ / "bin").string();
    const char* environment[] = {path.c_str(), "LC_ALL=C.UTF-8", nullptr};
    execle("/bin/bash", "bash", "-c", text.c_str(), nullptr, environment);
    _exit(9);
  }

  fs::path root_;
};

// --- the comparison ---

// Whether words from `at` on can be what the arguments from `arg` on become.
bool can_become(const std::vector<shell::Arg>& args, std::size_t arg, const Ran& ran,
                std::size_t at) {
  if (arg == args.size()) return at == ran.words.size();
  const shell::Arg& next = args[arg];
  if (next.known)
    return at < ran.words.size() && ran.words[at] == next.text &&
           can_become(args, arg + 1, ran, at + 1);
  if (next.single) return at < ran.words.size() && can_become(args, arg + 1, ran, at + 1);
  for (std::size_t end = at; end <= ran.words.size(); ++end)
    if (can_become(args, arg + 1, ran, end)) return true;
  return false;
}

std::string shown(const Ran& ran) {
  std::string out;
  for (const std::string& word : ran.words) out += (out.empty() ? "" : " ") + shell::quoted(word);
  return out;
}

class Comparison {
 public:
  Comparison(const fs::path& marker) : stage_(marker) {
    std::vector<schema::PolicyRule> sources;
    for (const std::string& rule : kAllowed)
      sources.push_back({schema::RuleEffect::allow, rule, schema::RuleOrigin::user});
    rules_ = *compile(sources);
  }

  // What was wrong; empty when nothing was.
  std::string check(const std::string& text) {
    Asked asked{.tool = "shell", .text = text, .cwd = "/w", .workspace = "/w"};
    Basis basis{.rules = &rules_};
    const Judgement judgement = judge(asked, basis);
    if (judgement.decision != schema::Decision::allow) return {};
    const bool defines = text.contains("()") || text.contains("function");
    if (defines && geteuid() != 0) return {};  // a function that calls itself needs a limit
    ++allowed;
    stage_.clear();
    stage_.run(text);
    const auto analysis = shell::analyse(text);
    for (const Ran& ran : stage_.ran()) {
      ++programs;
      const bool foreseen = std::ranges::any_of(analysis.parts, [&](const shell::Part& part) {
        return can_become(part.args, 0, ran, 0);
      });
      if (!foreseen) return "ran unforeseen: " + shown(ran);
      const std::string name(shell::base_name(ran.words[0]));
      const bool sub = ran.words.size() > 1 && ran.words[1] == "sub";
      if (name.starts_with("x") || (name == "s1" && !sub))
        return "ran what no rule allows: " + shown(ran);
    }
    const auto files = stage_.files();
    if (!files.empty()) return "a file appeared: " + files.front();
    return {};
  }

  std::size_t allowed = 0, programs = 0;

 private:
  Stage stage_;
  Rules rules_;
};

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1, count = 20'000;
  double seconds = 1e9;
  bool show = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--show") show = true;
    if (option == "--seed" && i + 1 < argc) seed = std::stoull(argv[++i]);
    if (option == "--count" && i + 1 < argc) count = std::stoull(argv[++i]);
    if (option == "--seconds" && i + 1 < argc) seconds = std::stod(argv[++i]);
  }
  if (argc < 2) {
    fmt::print(stderr,
               "usage: shell_differential MARKER [--seed S] [--count N] [--seconds T] [--show]\n");
    return 2;
  }
  Comparison comparison(argv[1]);
  Texts texts(seed);
  std::size_t wrong = 0, done = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (; done < count; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds)
      break;
    const std::string text = texts.next();
    if (text.contains('\0')) continue;
    const std::size_t before = comparison.allowed;
    const std::string offence = comparison.check(text);
    if (show && comparison.allowed > before) fmt::print("-- allowed:\n{}\n", text);
    if (offence.empty()) continue;
    ++wrong;
    fmt::print("-- seed {} text {}: {}\n{}\n", seed, done, offence, text);
    if (wrong >= 20) break;
  }
  fmt::print("{} texts, {} allowed and run, {} programs seen, {} wrong\n", done, comparison.allowed,
             comparison.programs, wrong);
  return wrong == 0 ? 0 : 1;
}
