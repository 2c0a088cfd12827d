// Checks that bash runs only what the policy judged. Random texts go through the permission policy;
// those that it allows run in real bash in an empty folder. Every program that runs must be one of
// the judged parts, with the predicted words, and no unpredicted file may appear.
//
// usage: shell_differential MARKER [--seed S] [--count N] [--seconds T] [--show]
//
// The texts (texts.h) are drawn from a grammar and then slightly damaged. Their commands are links
// to MARKER, which records its arguments; a few harmless programs are the real ones. The same seed
// gives the same run.
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
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "policy/permission.h"
#include "texts.h"

namespace {

using namespace agentrt;
using namespace agentrt::policy;
namespace fs = std::filesystem;

constexpr std::string_view kMarkers[] = {"a1", "a2", "s1", "x1", "x2", "--x"};
constexpr std::string_view kReal[] = {"bash", "sh",   "env", "xargs", "timeout",
                                      "nice", "find", "cat", "sort"};
constexpr std::string_view kPlanted = "0";
constexpr auto kTimeout = std::chrono::milliseconds(700);

constexpr std::string_view kAllowed[] = {
    // markers and programs
    "a1", "a2", "s1 sub", "env", "xargs", "timeout", "nice", "find", "cat", "sort", "bash", "sh",
    // all bash builtins except those that end processes
    ".", ":", "[", "alias", "bg", "bind", "break", "builtin", "caller", "cd", "command", "compgen",
    "complete", "compopt", "continue", "declare", "dirs", "disown", "echo", "enable", "eval",
    "exec", "exit", "export", "false", "fc", "fg", "getopts", "hash", "help", "history", "jobs",
    "kill -l", "let", "local", "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read",
    "readarray", "readonly", "return", "set", "shift", "shopt", "source", "test", "times", "trap",
    "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait",
    // functions of the texts
    "f", "g"};

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
    plant();
    for (const fs::path& open : {root_, root_ / "here"}) fs::permissions(open, fs::perms::all);
    clear();
  }
  ~Stage() { fs::remove_all(root_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void clear() {
    std::ofstream(root_ / "ran", std::ios::trunc).close();
    fs::permissions(root_ / "ran", fs::perms::all);
    for (const auto& entry : fs::directory_iterator(root_ / "here"))
      if (entry.path().filename() != kPlanted) fs::remove_all(entry);
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
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // wait for background work
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
      if (entry.path().filename() != kPlanted) out.push_back(entry.path().filename());
    return out;
  }

 private:
  // Creates a folder 0 with programs of the allowed names, which are all x1. A PATH that arithmetic
  // set to a number leads there.
  void plant() {
    fs::create_directory(root_ / "here" / kPlanted);
    for (const std::string_view name : {"a1", "a2", "s1", "cat", "sort", "find", "env"}) {
      const fs::path file = root_ / "here" / kPlanted / name;
      std::ofstream(file) << "#!" << (root_ / "bin/x1").string() << "\n";
      fs::permissions(file, fs::perms::all & ~fs::perms::others_write & ~fs::perms::group_write);
    }
  }

  // Runs the text without privileges, with low limits, in its own process group.
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

// Whether the words from index `at` can result from the arguments from index `arg`.
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
    for (const std::string_view words : kAllowed)
      sources.push_back(
          {schema::RuleEffect::allow, fmt::format("shell({}:*)", words), schema::RuleOrigin::user});
    policy_.rules = std::make_shared<const Rules>(*compile(sources));
  }

  // Describes the problem; empty: none.
  std::string check(const std::string& text) {
    Asked asked{.tool = "shell", .text = text, .cwd = "/w", .workspace = "/w"};
    const Judgement judgement = judge(asked, policy_);
    if (judgement.decision != schema::Decision::allow) return {};
    const bool defines = text.contains("()") || text.contains("function");
    // A recursive function needs a process limit, which needs root.
    if (defines && geteuid() != 0) return {};
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
  Effective policy_;
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
