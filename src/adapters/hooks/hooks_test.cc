// adapters/hooks/hooks_test.cc: tests hooks as real commands, for every way they can end.
#include "adapters/hooks/hooks.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "adapters/hooks/run_hook.h"
#include "adapters/process/sandbox.h"
#include "base/real_path.h"

namespace agentrt::adapters {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using schema::Category;
using schema::Decision;
using schema::HookOutcome;

// A workspace, and a folder beside it that hooks must not see.
struct Place {
  Place() {
    std::string pattern = (fs::temp_directory_path() / "agentrt_hooks_XXXXXX").string();
    home = real_path(::mkdtemp(pattern.data()));
    fs::create_directories(home + "/ws");
    fs::create_directories(home + "/data");
    std::ofstream(home + "/data/token") << "secret";
  }
  ~Place() { fs::remove_all(home); }

  schema::SandboxProfile profile() const {
    schema::SandboxProfile out;
    out.mode = schema::SandboxMode::full_access;
    out.cwd = home + "/ws";
    out.roots = {out.cwd};
    out.hidden_paths = {home + "/data"};
    out.environment = {"PATH=/usr/bin:/bin"};
    return out;
  }
  ports::HookRequest request(const std::string& command, std::uint64_t timeout_ms = 20'000) const {
    ports::HookRequest out;
    out.id = "hook_1";
    out.hook.command = command;
    out.hook.timeout_ms = timeout_ms;
    out.input.cwd = home + "/ws";
    out.input.tool_name = "shell";
    out.input.tool_input = schema::Json{R"({"command":"ls"})"};
    return out;
  }
  HookOutcome run(const ports::HookRequest& asked) const {
    const Descriptor never(::eventfd(0, EFD_CLOEXEC));
    auto outcome = run_hook(asked, profile(), never.get());
    REQUIRE(outcome);
    return *std::move(outcome);
  }
  HookOutcome run(const std::string& command, std::uint64_t timeout_ms = 20'000) const {
    return run(request(command, timeout_ms));
  }
  std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(home + "/ws/" + name).rdbuf();
    return text.str();
  }

  std::string home;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string failure_of(const HookOutcome& outcome, Category category) {
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->category == category);
  return outcome.failure->message;
}

}  // namespace

TEST_CASE("a hook reads its input in the workspace and its answer counts") {
  const Place place;
  const HookOutcome outcome =
      place.run("cat > seen; pwd >> seen; echo '{\"decision\":\"ask\",\"reason\":\"why\"}'");
  CHECK(outcome.failure == std::nullopt);
  CHECK(outcome.decision == Decision::ask);
  CHECK(outcome.reason == "why");
  CHECK(outcome.duration_ms > 0);
  const std::string seen = place.file("seen");
  CHECK(contains(seen, R"("point":"pre_tool_use")"));
  CHECK(contains(seen, R"("toolInput":{"command":"ls"})"));
  CHECK(contains(seen, place.home + "/ws\n"));
}

TEST_CASE("a hook that does not read its input is not held up by it") {
  const Place place;
  ports::HookRequest request = place.request("exit 0");
  request.input.prompt = std::string(500'000, 'x');
  CHECK(place.run(request).failure == std::nullopt);
  request.input.prompt = std::string(schema::kHookInputBytesMax, 'x');
  CHECK(contains(failure_of(place.run(request), Category::invalid_input), "is larger than"));
}

TEST_CASE("a hook has the environment that it is given and nothing of ours") {
  ::setenv("AGENTRT_TEST_CANARY", "canary", 1);
  const Place place;
  ports::HookRequest request = place.request("env > seen");
  CHECK(place.run(request).failure == std::nullopt);
  CHECK(contains(place.file("seen"), "AGENTRT_HOOK_POINT=pre_tool_use\n"));
  CHECK_FALSE(contains(place.file("seen"), "canary"));
  CHECK_FALSE(contains(place.file("seen"), "CLAUDE_PROJECT_DIR"));
  request.hook.dialect = schema::HookDialect::claude;
  CHECK(place.run(request).failure == std::nullopt);
  CHECK(contains(place.file("seen"), fmt::format("CLAUDE_PROJECT_DIR={}/ws\n", place.home)));
}

TEST_CASE("a hook sees neither what is hidden nor other processes") {
  const Place place;
  const HookOutcome outcome =
      place.run(fmt::format("cat {0}/data/token && exit 2; ls {0}/data | grep . && exit 2; ls "
                            "/proc/{1} && exit 2; exit 0",
                            place.home, ::getpid()));
  CHECK(outcome.failure == std::nullopt);
  CHECK_FALSE(outcome.block);
}

TEST_CASE("exit codes, signals and what cannot be started each have their outcome") {
  const Place place;
  const HookOutcome blocked = place.run("echo not today >&2; exit 2");
  CHECK(blocked.decision == Decision::deny);
  CHECK(blocked.reason == "not today");
  CHECK(contains(failure_of(place.run("exit 3"), Category::exit_nonzero), "exit code 3"));
  CHECK(contains(failure_of(place.run("./absent"), Category::exit_nonzero), "exit code 127"));
  CHECK(contains(failure_of(place.run("kill -KILL $$"), Category::exit_nonzero), "signal 9"));
  CHECK(contains(failure_of(place.run("echo no json"), Category::invalid_input), "JSON"));
  CHECK(contains(failure_of(place.run("printf '{\"reason\":\"\\xff\"}'"), Category::invalid_input),
                 "UTF-8"));
}

TEST_CASE("a hook that takes too long ends with everything that it started") {
  const Place place;
  const auto began = Clock::now();
  const HookOutcome outcome = place.run(
      "trap '' TERM INT HUP; (setsid sh -c 'sleep 2; echo late > late') & sleep 100", 300);
  CHECK(contains(failure_of(outcome, Category::timeout), "300 ms"));
  CHECK(Clock::now() - began < 10s);
  std::this_thread::sleep_for(2'500ms);
  CHECK(place.file("late").empty());
}

TEST_CASE("what a hook leaves in the background ends with it") {
  const Place place;
  CHECK(place.run("(sleep 2; echo late > late) & exit 0").failure == std::nullopt);
  std::this_thread::sleep_for(2'500ms);
  CHECK(place.file("late").empty());
}

TEST_CASE("a hook that writes too much is ended, and complaints are cut") {
  const Place place;
  CHECK(contains(failure_of(place.run("head -c 10000000 /dev/zero | tr '\\0' x; sleep 100"),
                            Category::invalid_input),
                 "more than 65536 bytes"));
  const HookOutcome outcome = place.run("head -c 10000000 /dev/zero | tr '\\0' y >&2; exit 2");
  CHECK(outcome.block);
  CHECK(outcome.reason == std::string(schema::kHookReasonBytesMax, 'y'));
}

namespace {

// A loop whose steps run on the test's thread.
class TestLoop final : public ports::Loop {
 public:
  void post(ports::Step step) override {
    const std::scoped_lock lock(mutex_);
    steps_.push_back(std::move(step));
    more_.notify_one();
  }
  Timestamp now() const override { return {0}; }
  TimerId after(std::int64_t, ports::Step) override { return 0; }
  void cancel(TimerId) override {}

  template <class Until>
  bool run(Until until, std::chrono::milliseconds most = 20s) {
    const auto deadline = Clock::now() + most;
    while (!until() && Clock::now() < deadline) {
      std::unique_lock lock(mutex_);
      if (!more_.wait_for(lock, 5ms, [this] { return !steps_.empty(); })) continue;
      ports::Step step = std::move(steps_.front());
      steps_.pop_front();
      lock.unlock();
      step();
    }
    return until();
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<ports::Step> steps_;
};

struct RecordingListener final : ports::HookListener {
  void on_ended(HookOutcome how) override {
    outcome = std::move(how);
    ++times;
  }
  std::optional<HookOutcome> outcome;
  int times = 0;
};

struct Machine {
  explicit Machine(std::size_t hooks_max = 4, std::size_t waiting_max = 8)
      : hooks({.loop = loop,
               .profile = [this](const ports::HookRequest&) -> Result<schema::SandboxProfile> {
                 return place.profile();
               },
               .hooks_max = hooks_max,
               .waiting_max = waiting_max}) {}

  std::shared_ptr<RecordingListener> start(const std::string& id, const std::string& command) {
    auto heard = std::make_shared<RecordingListener>();
    ports::HookRequest request = place.request(command);
    request.id = id;
    hooks.start(std::move(request), heard);
    return heard;
  }

  Place place;
  TestLoop loop;
  LauncherHooks hooks;
};

}  // namespace

TEST_CASE("hooks run in parallel and each reports once") {
  Machine machine;
  std::vector<std::shared_ptr<RecordingListener>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(machine.start(fmt::format("hook_{}", i), fmt::format("echo {} >&2; exit 2", i)));
  REQUIRE(machine.loop.run([&] {
    return std::ranges::all_of(all, [](const auto& each) { return each->outcome.has_value(); });
  }));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i]->outcome->reason == std::to_string(i));
    CHECK(all[i]->times == 1);
  }
}

TEST_CASE("no more hooks run at once than the limit, and one too many fails at once") {
  Machine machine(1, 1);
  const auto first = machine.start("hook_1", "sleep 0.3");
  const auto second = machine.start("hook_2", "exit 0");
  const auto third = machine.start("hook_3", "exit 0");
  REQUIRE(machine.loop.run([&] { return third->outcome.has_value(); }));
  CHECK(failure_of(*third->outcome, Category::unavailable)
            .starts_with("1 hooks are already waiting"));
  CHECK_FALSE(first->outcome.has_value());
  REQUIRE(machine.loop.run([&] { return second->outcome.has_value(); }));
  CHECK(first->outcome.has_value());
  CHECK(second->outcome->failure == std::nullopt);
}

TEST_CASE("a hook that is cancelled ends and is not heard") {
  Machine machine(1);
  const auto running = machine.start("hook_1", "touch began; sleep 100");
  const auto waiting = machine.start("hook_2", "touch never");
  REQUIRE(machine.loop.run([&] { return fs::exists(machine.place.home + "/ws/began"); }));
  machine.hooks.cancel("hook_1");
  machine.hooks.cancel("hook_2");
  machine.hooks.cancel("hook_9");
  const auto next = machine.start("hook_1", "exit 0");
  REQUIRE(machine.loop.run([&] { return next->outcome.has_value(); }));
  CHECK(running->times == 0);
  CHECK(waiting->times == 0);
  CHECK_FALSE(fs::exists(machine.place.home + "/ws/never"));
}

TEST_CASE("a hook whose sandbox cannot be made does not run") {
  TestLoop loop;
  LauncherHooks hooks({.loop = loop, .profile = [](const ports::HookRequest&) {
                         return Result<schema::SandboxProfile>(
                             fail(Code::invalid_params, "no such folder"));
                       }});
  const auto heard = std::make_shared<RecordingListener>();
  hooks.start({}, heard);
  REQUIRE(loop.run([&] { return heard->outcome.has_value(); }));
  CHECK(failure_of(*heard->outcome, Category::sandbox) == "no such folder");
}

TEST_CASE("stopping ends what runs") {
  const auto began = Clock::now();
  {
    Machine machine;
    const auto heard = machine.start("hook_1", "touch began; sleep 100");
    REQUIRE(machine.loop.run([&] { return fs::exists(machine.place.home + "/ws/began"); }));
  }
  CHECK(Clock::now() - began < 15s);
}

}  // namespace agentrt::adapters
