// adapters/process/processes_test.cc: real processes behind real launchers, on a loop of the
// test's.
#include "adapters/process/processes.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "adapters/process/sandbox.h"

namespace agentrt::adapters {
namespace {

using namespace std::chrono_literals;

// Steps that any thread posts, run by the test; timers by the clock of the machine.
class TestLoop final : public ports::Loop {
 public:
  void post(ports::Step step) override {
    const std::scoped_lock lock(mutex_);
    steps_.push_back(std::move(step));
    more_.notify_one();
  }
  Timestamp now() const override { return {0}; }
  TimerId after(std::int64_t delay_ms, ports::Step step) override {
    timers_.emplace(Clock::now() + std::chrono::milliseconds(delay_ms), std::move(step));
    return 0;
  }
  void cancel(TimerId) override {}

  // Runs until it is true; false when that takes too long.
  template <class Until>
  bool run(Until until) {
    const auto deadline = Clock::now() + 20s;
    while (!until() && Clock::now() < deadline) {
      while (!timers_.empty() && timers_.begin()->first <= Clock::now())
        timers_.extract(timers_.begin()).mapped()();
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
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<ports::Step> steps_;
  std::multimap<Clock::time_point, ports::Step> timers_;
};

// At once, on the thread that asks.
struct PlainWorker final : ports::Worker {
  bool run(ports::Step task) override {
    task();
    return true;
  }
};

struct FullDisk final : ports::OutputKeeper {
  Result<schema::KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::storage_full, "no room");
  }
  Result<schema::KeptOutput> keep_bytes(std::string_view, const ports::OutputMeta&) override {
    return fail(Code::storage_full, "no room");
  }
};

struct Heard final : ports::ProcessListener {
  void on_ready(const schema::SandboxApplied&, const schema::ProcessStarted&) override {
    ready = true;
  }
  void on_output(schema::ProcessOutput output) override { text += output.text.value_or(""); }
  void on_violation(schema::SandboxViolation) override {}
  void on_ended(ports::ProcessEnd how) override { end = std::move(how); }

  bool ready = false;
  std::string text;
  std::optional<ports::ProcessEnd> end;
};

class Machine {
 public:
  explicit Machine(std::size_t processes_max = 8, std::int64_t sweep_after_ms = 60'000) {
    std::string pattern = (std::filesystem::temp_directory_path() / "agentrt_ps_XXXXXX").string();
    home_ = ::mkdtemp(pattern.data());
    std::filesystem::permissions(home_, std::filesystem::perms(0755));
    std::filesystem::create_directories(home_ + "/ws");
    const auto profile = [this](const ports::ProcessRequest&) -> Result<schema::SandboxProfile> {
      schema::SandboxProfile out;
      out.cwd = real_path(home_ + "/ws");
      out.roots = {out.cwd};
      out.environment = {"PATH=/usr/bin:/bin"};
      return out;
    };
    processes.emplace(LauncherProcesses::Parts{.loop = loop,
                                               .worker = worker_,
                                               .keeper = keeper_,
                                               .folder = run_folder(),
                                               .profile = profile,
                                               .redact = [](std::string text) { return text; },
                                               .processes_max = processes_max,
                                               .sweep_after_ms = sweep_after_ms});
  }
  ~Machine() {
    processes->stop();
    std::filesystem::remove_all(home_);
  }

  std::string run_folder() const { return home_ + "/run"; }
  std::size_t folders() const {
    std::error_code error;
    const std::filesystem::directory_iterator all(run_folder(), error);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  std::shared_ptr<Heard> start(const std::string& name, const std::string& command) {
    auto heard = std::make_shared<Heard>();
    ports::ProcessRequest request;
    request.id = ProcessId{name};
    request.argv = {"/bin/bash", "-c", command};
    request.command = command;
    request.workspace = home_ + "/ws";
    processes->start(std::move(request), heard);
    return heard;
  }

  TestLoop loop;
  std::optional<LauncherProcesses> processes;

 private:
  std::string home_;
  PlainWorker worker_;
  FullDisk keeper_;
};

}  // namespace

TEST_CASE("a command waits at its gate, runs once it is let go, and leaves nothing behind") {
  Machine machine;
  const auto heard = machine.start("proc_1", "echo out; exit 3");
  REQUIRE(machine.loop.run([&] { return heard->ready; }));
  machine.loop.run([&, until = std::chrono::steady_clock::now() + 100ms] {
    return std::chrono::steady_clock::now() > until;
  });
  CHECK(heard->text.empty());
  machine.processes->release(ProcessId{"proc_1"});
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->end->exit_code == 3);
  CHECK(heard->text == "out\n");
  CHECK(heard->end->preview == "out\n");
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
}

TEST_CASE("no more commands are confined at once than the limit, and the others get their turn") {
  constexpr std::size_t kAtOnce = 2;
  Machine machine(kAtOnce);
  std::vector<std::shared_ptr<Heard>> all;
  for (int i = 0; i < 6; ++i) all.push_back(machine.start(fmt::format("proc_{}", i), "true"));
  std::vector<bool> released(all.size());
  std::size_t most = 0;
  const auto step = [&] {
    std::size_t held = 0, ended = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ended += all[i]->end.has_value();
      held += all[i]->ready && !all[i]->end;
      if (all[i]->ready && !released[i]) {
        released[i] = true;
        machine.processes->release(ProcessId{fmt::format("proc_{}", i)});
      }
    }
    most = std::max(most, held);
    return ended == all.size();
  };
  REQUIRE(machine.loop.run(step));
  CHECK(most <= kAtOnce);
}

TEST_CASE("what cannot be kept of a long output is said, not swallowed") {
  Machine machine;
  const auto heard = machine.start("proc_1", "seq 1 5000");
  REQUIRE(machine.loop.run([&] { return heard->ready; }));
  machine.processes->release(ProcessId{"proc_1"});
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->end->outputs.empty());
  CHECK(heard->end->preview.ends_with("[the rest of stdout could not be kept: no room]"));
}

TEST_CASE("a command that is forgotten ends, and one that nobody can know about is lost") {
  Machine machine;
  const auto heard = machine.start("proc_1", "sleep 100");
  REQUIRE(machine.loop.run([&] { return heard->ready; }));
  machine.processes->release(ProcessId{"proc_1"});
  machine.processes->forget(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
  CHECK_FALSE(heard->end.has_value());
  const auto found = std::make_shared<Heard>();
  machine.processes->find(ProcessId{"proc_9"}, found);
  REQUIRE(machine.loop.run([&] { return found->end.has_value(); }));
  CHECK(found->end->failure->category == schema::Category::lost);
}

TEST_CASE("what an earlier boot left and nobody asks for is removed") {
  Machine machine(8, 50);
  std::filesystem::create_directories(machine.run_folder() + "/proc_old");
  std::ofstream(machine.run_folder() + "/proc_old/stdout") << "old";
  const auto running = machine.start("proc_1", "true");
  REQUIRE(machine.loop.run([&] { return running->ready; }));
  CHECK(machine.loop.run([&] { return machine.folders() == 1; }));
  machine.processes->release(ProcessId{"proc_1"});
  REQUIRE(machine.loop.run([&] { return running->end.has_value(); }));
  CHECK(running->end->exit_code == 0);
}

}  // namespace agentrt::adapters
