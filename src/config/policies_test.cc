// config/policies_test.cc: the policy of a workspace, including hostile ones.
#include "config/policies.h"

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "base/digest.h"

namespace agentrt::config {
namespace {

namespace fs = std::filesystem;
using schema::RuleEffect;
using schema::RuleOrigin;

struct FakeRecords final : TrustRecords {
  Result<std::vector<TrustRecord>> of(const std::string& workspace) override {
    asked.push_back(workspace);
    if (broken) return fail(Code::unavailable, "the records cannot be read");
    return records;
  }
  std::vector<TrustRecord> records;
  std::vector<std::string> asked;
  bool broken = false;
};

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
// A time at which all files written so far are settled.
std::int64_t later_ms() { return now_ms() + 10 * kSettledAfterMs; }

struct Workspace {
  Workspace() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_policy_XXXXXX").string();
    root = fs::canonical(::mkdtemp(pattern.data())).string();
    fs::create_directories(cwd() + "/.agentrt");
    fs::create_directories(cwd() + "/.claude");
  }
  ~Workspace() { fs::remove_all(root); }

  std::string cwd() const { return root + "/work"; }
  std::string config() const { return cwd() + "/.agentrt/config.toml"; }
  ConfigSources sources() const {
    ConfigSources out;
    out.managed = root + "/managed.toml";
    out.user = root + "/config.toml";
    out.claude = root + "/settings.json";
    return out;
  }
  Result<schema::Policy> policy() { return FilePolicies(sources(), records, now_ms).policy(cwd()); }
  std::string error() {
    const auto got = policy();
    REQUIRE(!got);
    return got.error().message;
  }
  void trust(const std::string& path, const std::string& text) {
    records.records.push_back({path, "sha256:" + hex(bytes_of(sha256(text)))});
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  std::string root;
  FakeRecords records;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kAllow = "[permissions]\nallow = [\"shell(evil)\"]\n";

TEST_CASE("a policy is put together from host, user and workspace") {
  Workspace w;
  Workspace::write(w.root + "/managed.toml", "[permissions]\ndeny = [\"shell(a)\"]\n");
  Workspace::write(
      w.root + "/config.toml",
      "[permissions]\nmode = \"auto\"\nallow = [\"shell(b)\"]\n[hooks]\nstop = [{ command = "
      "\"h\" }]\n");
  Workspace::write(w.config(),
                   "[permissions]\nask = [\"shell(c)\"]\n[sandbox]\nmode = \"read_only\"\n");
  const auto policy = w.policy();
  REQUIRE(policy);
  CHECK(policy->mode == schema::PermissionMode::auto_);
  CHECK(policy->sandbox == schema::SandboxMode::read_only);
  CHECK(policy->rules ==
        std::vector<schema::PolicyRule>{{RuleEffect::deny, "shell(a)", RuleOrigin::managed},
                                        {RuleEffect::allow, "shell(b)", RuleOrigin::user},
                                        {RuleEffect::ask, "shell(c)", RuleOrigin::workspace}});
  CHECK(policy->hooks.size() == 1);
  CHECK(policy->files.empty());
  CHECK(policy->ignored.empty());
}

TEST_CASE("each workspace has its own policy, and a change counts at once") {
  Workspace w;
  FilePolicies policies(w.sources(), w.records, now_ms);
  fs::create_directories(w.root + "/other/.agentrt");
  Workspace::write(w.root + "/other/.agentrt/config.toml",
                   "[permissions]\ndeny = [\"shell(x)\"]\n");
  CHECK(policies.policy(w.cwd())->rules.empty());
  CHECK(policies.policy(w.root + "/other")->rules.size() == 1);
  Workspace::write(w.config(), "[permissions]\ndeny = [\"shell(y)\", \"shell(z)\"]\n");
  CHECK(policies.policy(w.cwd())->rules.size() == 2);
  fs::remove(w.config());
  CHECK(policies.policy(w.cwd())->rules.empty());
  CHECK(policies.policy(w.root + "/absent").has_value());
}

TEST_CASE("trust is asked for by the folder's real name, and bound to path and digest") {
  Workspace w;
  Workspace::write(w.config(), kAllow);
  fs::create_directory_symlink(w.cwd(), w.root + "/link");
  w.trust(w.config(), kAllow);
  const auto policy = FilePolicies(w.sources(), w.records, now_ms).policy(w.root + "/link");
  REQUIRE(policy);
  CHECK(w.records.asked == std::vector<std::string>{w.cwd()});
  CHECK(policy->rules.size() == 1);
  REQUIRE(policy->files.size() == 1);
  CHECK(policy->files[0].trusted);

  // Trust applies neither to the same bytes at another path nor to other bytes at this path.
  Workspace::write(w.cwd() + "/.claude/settings.json", kAllow);
  CHECK(contains(w.error(), ".claude/settings.json: is not valid"));
  fs::remove(w.cwd() + "/.claude/settings.json");
  Workspace::write(w.config(), kAllow + "\n");
  CHECK(w.policy()->rules.empty());
  CHECK(w.policy()->files[0].changed);
}

TEST_CASE("a file that was trusted, changed and changed back is trusted again") {
  Workspace w;
  w.trust(w.config(), "something else");
  w.trust(w.config(), kAllow);
  Workspace::write(w.config(), kAllow);
  CHECK(w.policy()->files[0].trusted);
}

TEST_CASE("records that cannot be read, and a broken file, are errors and never weaker rules") {
  Workspace w;
  Workspace::write(w.config(), "[permissions]\ndeni = []\n");
  CHECK(contains(w.error(), w.config() + ":2: permissions.deni"));
  w.records.broken = true;
  CHECK(w.error() == "the records cannot be read");
}

TEST_CASE("links in place of a file, or on the way to it, are refused") {
  Workspace w;
  Workspace::write(w.root + "/outside.toml", "");
  for (const std::string& target : {std::string("/etc/passwd"), w.root + "/outside.toml",
                                    std::string("../../outside.toml"), std::string("/nowhere")}) {
    fs::remove(w.config());
    fs::create_symlink(target, w.config());
    CHECK(contains(w.error(), w.config() + ": is a symbolic link"));
  }
  fs::remove_all(w.cwd() + "/.agentrt");
  fs::create_directory(w.root + "/folder");
  Workspace::write(w.root + "/folder/config.toml", "");
  fs::create_directory_symlink(w.root + "/folder", w.cwd() + "/.agentrt");
  CHECK(contains(w.error(), "is reached through one"));
  fs::remove(w.cwd() + "/.agentrt");
  fs::create_symlink("/etc/passwd", w.cwd() + "/.mcp.json");
  CHECK(contains(w.error(), ".mcp.json: is a symbolic link"));
}

TEST_CASE("what is no file, too large or no text is refused without waiting for it") {
  Workspace w;
  REQUIRE(::mkfifo(w.config().c_str(), 0600) == 0);
  CHECK(contains(w.error(), "is not a file"));
  fs::remove(w.config());
  fs::create_directory(w.config());
  CHECK(contains(w.error(), "is not a file"));
  fs::remove(w.config());
  Workspace::write(w.config(), "");
  fs::resize_file(w.config(), std::uintmax_t{2} << 30);
  CHECK(contains(w.error(), "is too large"));
  Workspace::write(w.config(), "[permissions]\ndeny = [\"\xff\xfe\"]\n");
  CHECK(contains(w.error(), w.config() + ":"));
  Workspace::write(w.config(), std::string("[permissions]\0\n", 15));
  CHECK(contains(w.error(), w.config() + ":"));
  fs::remove_all(w.cwd() + "/.agentrt");
  Workspace::write(w.cwd() + "/.agentrt", "a file where the folder would be");
  CHECK(w.policy().has_value());
}

TEST_CASE("the bytes that were hashed are the bytes that count, however fast a file is replaced") {
  Workspace w;
  const std::string good = "[permissions]\nallow = [\"shell(good)\"]\n";
  const std::string evil = "[permissions]\nallow = [\"shell(evil)\"]\n";
  Workspace::write(w.config(), good);
  w.trust(w.config(), good);
  std::atomic<bool> stop{false};
  std::thread hostile([&] {
    const std::string next = w.config() + ".next";
    for (int i = 0; !stop; ++i) {
      if (i % 3 == 2)
        fs::create_symlink("/etc/passwd", next);
      else
        Workspace::write(next, i % 3 == 0 ? evil : good);
      fs::rename(next, w.config());
    }
  });
  int good_seen = 0, evil_seen = 0;
  for (int i = 0; i < 3'000; ++i) {
    const auto policy = w.policy();
    if (!policy) continue;  // the file was a symlink at this moment
    for (const schema::PolicyRule& rule : policy->rules)
      ++(rule.rule == "shell(good)" ? good_seen : evil_seen);
  }
  stop = true;
  hostile.join();
  CHECK(good_seen > 0);
  CHECK(evil_seen == 0);
}

TEST_CASE("a file that is as large and as full as can be costs little and says little") {
  Workspace w;
  std::string rules = "[permissions]\ndeny = [";
  for (int i = 0; rules.size() < kConfigBytesMax - 20; ++i)
    rules += fmt::format("\"shell({})\",", i);
  Workspace::write(w.config(), rules + "]\n");
  const auto began = std::chrono::steady_clock::now();
  CHECK(contains(w.error(), "rules in total; the limit is 1000"));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
  std::string models;
  for (int i = 0; i < 5'000; ++i)
    models += fmt::format("[models.m{}]\nprovider = \"script\"\nscript = \"s\"\n", i);
  Workspace::write(w.config(), models);
  const auto policy = w.policy();
  REQUIRE(policy);
  REQUIRE(policy->ignored.size() == 1);
  CHECK(policy->ignored[0].size() < 1'500);
}

// Runs the task in a process that the kernel kills if it starts a process or creates a socket.
// Returns whether it finished and returned true.
template <class Task>
bool confined(Task task) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned kForbidden[] = {SYS_execve, SYS_execveat, SYS_fork,   SYS_vfork,
                                       SYS_clone,  SYS_clone3,   SYS_socket, SYS_connect};
    std::vector<sock_filter> filter = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const unsigned call : kForbidden) {
      filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
      filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    const bool bound = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                       ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
    ::_exit(bound && task() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string whole_environment() {
  std::string out;
  for (char** each = environ; *each != nullptr; ++each) out += std::string(*each) + "\n";
  return out;
}

TEST_CASE("opening a hostile workspace runs and connects nothing and changes no environment") {
  Workspace w;
  const std::string trap = "touch " + w.root + "/sprung";
  Workspace::write(w.config(), fmt::format("[hooks]\nsession_start = [{{ command = \"{0}\" }}]\n"
                                           "[permissions]\nmode = \"bypass\"\nallow = [\"shell\"]\n"
                                           "[sandbox]\nmode = \"full_access\"\nnetwork = true\n",
                                           trap));
  Workspace::write(w.cwd() + "/.claude/settings.json",
                   fmt::format(R"({{"env":{{"AGENTRT_TRAP":"1"}},"hooks":{{"SessionStart":)"
                               R"([{{"hooks":[{{"type":"command","command":"{}"}}]}}]}}}})",
                               trap));
  Workspace::write(w.cwd() + "/.mcp.json",
                   R"({"mcpServers":{"x":{"command":"touch","args":["sprung"]}}})");
  Workspace::write(w.cwd() + "/.env", "AGENTRT_HOME=/tmp/evil\n");
  CHECK(confined([&] { return w.policy().has_value(); }));
  CHECK_FALSE(confined([] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }));
  CHECK_FALSE(confined([] { return ::system("true") == 0; }));
  const std::string environment = whole_environment();
  const auto policy = w.policy();
  REQUIRE(policy);
  CHECK(environment == whole_environment());
  CHECK(policy->mode == schema::PermissionMode::default_);
  CHECK(policy->sandbox == schema::SandboxMode::workspace_write);
  CHECK_FALSE(policy->network);
  CHECK(policy->rules.empty());
  CHECK(policy->hooks.empty());
  CHECK(policy->files.size() == 3);
  CHECK(policy->ignored.size() == 3);
  CHECK_FALSE(fs::exists(w.root + "/sprung"));
}

TEST_CASE("a hook of the user has the user's files, one of the workspace what a command has") {
  Workspace w;
  Config config;
  config.sources = w.sources();
  config.sources.named = w.root + "/named.toml";
  ports::HookRequest request;
  request.input.cwd = w.cwd();
  const auto profile = [&] {
    const auto environment = [&](std::string_view name) -> std::optional<std::string> {
      if (name == "HOME") return w.root;
      return std::nullopt;
    };
    auto out = hook_profile_of(config, request, w.root + "/data", environment);
    REQUIRE(out);
    for (const char* hidden : {"/data", "/named.toml", "/managed.toml", "/.config/agentrt"})
      CHECK(std::ranges::find(out->hidden_paths, w.root + hidden) != out->hidden_paths.end());
    return *std::move(out);
  };
  config.sources.claude = w.root + "/.claude/settings.json";
  const auto hides_scripts = [&] {
    const auto hidden = profile().hidden_paths;
    return std::ranges::find(hidden, w.root + "/.claude") != hidden.end();
  };
  CHECK(profile().mode == schema::SandboxMode::full_access);
  CHECK(profile().network == schema::CommandNetwork::host);
  CHECK_FALSE(hides_scripts());
  request.hook.origin = RuleOrigin::workspace;
  request.input.sandbox.mode = schema::SandboxMode::read_only;
  CHECK(profile().mode == schema::SandboxMode::read_only);
  CHECK(profile().network == schema::CommandNetwork::none);
  CHECK(hides_scripts());
  request.hook.origin = RuleOrigin::user;
  config.managed_sandbox = schema::SandboxMode::workspace_write;
  config.managed_network = false;
  CHECK(profile().mode == schema::SandboxMode::workspace_write);
  CHECK(profile().network == schema::CommandNetwork::none);
}

}  // namespace
TEST_CASE("files that stay as they are are read once, and again after any change") {
  Workspace w;
  Workspace::write(w.config(), "[permissions]\ndeny = [\"shell(a)\"]\n");
  FilePolicies policies(w.sources(), w.records, later_ms);
  const auto denied = [&] {
    const auto policy = policies.policy(w.cwd());
    REQUIRE(policy);
    std::vector<std::string> out;
    for (const auto& rule : policy->rules) out.push_back(rule.rule);
    return out;
  };
  const auto first = denied();
  REQUIRE(first.size() == 1);
  CHECK(denied() == first);
  CHECK(policies.readings() == 1);

  Workspace::write(w.config(), "[permissions]\ndeny = [\"shell(a)\", \"shell(b)\"]\n");
  CHECK(denied().size() == 2);
  CHECK(policies.readings() == 2);

  // the file appears
  Workspace::write(w.root + "/config.toml", "[permissions]\ndeny = [\"shell(c)\"]\n");
  CHECK(denied().size() == 3);
  fs::remove(w.root + "/config.toml");
  CHECK(denied().size() == 2);

  w.trust(w.config(), "other contents");
  const auto before = policies.readings();
  denied();
  CHECK(policies.readings() == before + 1);

  fs::rename(w.config(), w.config() + ".other");
  fs::create_symlink(w.config() + ".other", w.config());
  CHECK_FALSE(policies.policy(w.cwd()));
}

TEST_CASE("a file that changes again within one tick of the clock counts as it is") {
  Workspace w;
  FilePolicies policies(w.sources(), w.records, now_ms);
  for (int i = 0; i < 200; ++i) {
    const std::string name = fmt::format("shell(tool{:03})", i);  // all of equal size
    Workspace::write(w.config(), fmt::format("[permissions]\ndeny = [\"{}\"]\n", name));
    const auto policy = policies.policy(w.cwd());
    REQUIRE(policy);
    REQUIRE(policy->rules.size() == 1);
    REQUIRE(contains(policy->rules.front().rule, fmt::format("tool{:03}", i)));
  }
  CHECK(policies.readings() == 200);
}

TEST_CASE("policies are kept for a bounded number of workspaces") {
  Workspace w;
  FilePolicies policies(w.sources(), w.records, later_ms);
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i <= kPoliciesKeptMax; ++i) {
      const std::string folder = fmt::format("{}/many{}", w.root, i);
      fs::create_directories(folder);
      REQUIRE(policies.policy(folder));
    }
  CHECK(policies.readings() > kPoliciesKeptMax + 1);
}

}  // namespace agentrt::config
