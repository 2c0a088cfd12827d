// adapters/process/processes_test.cc: tests real processes under real launchers, on the test's own
// loop.
#include "adapters/process/processes.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "adapters/process/sandbox.h"
#include "base/real_path.h"
#include "schema/tools.h"

namespace agentrt::adapters {
namespace {

using namespace std::chrono_literals;

// Any thread posts steps; the test runs them. Timers use the machine's clock.
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

  // Runs steps until the condition holds. False: timeout.
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

// Runs tasks immediately on the calling thread.
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

struct RecordingListener final : ports::ProcessListener {
  void on_ready(const schema::SandboxApplied&, const schema::ProcessStarted&) override {
    ready = true;
  }
  void on_output(schema::ProcessOutput output) override {
    ++pieces;
    split +=
        !output.text->empty() && (static_cast<unsigned char>(output.text->front()) & 0xc0) == 0x80;
    text += output.text.value_or("");
  }
  void on_violation(schema::SandboxViolation) override {}
  void on_found() override { found = true; }
  void on_input_refused() override { ++refusals; }
  void on_ended(ports::ProcessEnd how) override { end = std::move(how); }

  bool ready = false;
  bool found = false;
  int refusals = 0, pieces = 0, split = 0;
  std::string text;
  std::optional<ports::ProcessEnd> end;
};

class Machine {
 public:
  explicit Machine(std::size_t processes_max = 8, std::int64_t sweep_after_ms = 60'000)
      : processes_max_(processes_max), sweep_after_ms_(sweep_after_ms) {
    std::string pattern = (std::filesystem::temp_directory_path() / "agentrt_ps_XXXXXX").string();
    home_ = ::mkdtemp(pattern.data());
    std::filesystem::permissions(home_, std::filesystem::perms(0755));
    std::filesystem::create_directories(home_ + "/ws");
    boot();
  }
  // Starts another runtime on the same folder, as after a stop or crash.
  void boot() {
    if (processes) earlier_.push_back(std::move(processes));
    const auto profile = [this](const ports::ProcessRequest&) -> Result<schema::SandboxProfile> {
      schema::SandboxProfile out;
      out.cwd = real_path(home_ + "/ws");
      out.roots = {out.cwd};
      out.environment = {"PATH=/usr/bin:/bin"};
      return out;
    };
    processes = std::make_unique<LauncherProcesses>(
        LauncherProcesses::Parts{.loop = loop,
                                 .worker = worker_,
                                 .keeper = keeper_,
                                 .folder = run_folder(),
                                 .profile = profile,
                                 .outline = profile,
                                 .redact = [](std::string text) { return text; },
                                 .processes_max = processes_max_,
                                 .background_max = 2,
                                 .sweep_after_ms = sweep_after_ms_,
                                 .keep_tries_max = 2});
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
  enum class Place { foreground, background, terminal };
  std::shared_ptr<RecordingListener> start(const std::string& name, const std::string& command,
                                           Place place = Place::foreground) {
    auto heard = std::make_shared<RecordingListener>();
    ports::ProcessRequest request;
    request.background = place != Place::foreground;
    request.tty = place == Place::terminal;
    request.id = ProcessId{name};
    request.argv = {"/bin/bash", "-c", command};
    request.command = command;
    request.workspace = home_ + "/ws";
    processes->start(std::move(request), heard);
    return heard;
  }

  // Starts a command and releases it.
  std::shared_ptr<RecordingListener> run(const std::string& name, const std::string& command,
                                         Place place = Place::background) {
    const auto heard = start(name, command, place);
    REQUIRE(loop.run([&] { return heard->ready || heard->end; }));
    processes->release(ProcessId{name});
    return heard;
  }
  std::shared_ptr<RecordingListener> follow(const std::string& name, std::uint64_t out = 0) {
    const auto heard = std::make_shared<RecordingListener>();
    processes->follow(ProcessId{name}, {.out = out}, heard);
    return heard;
  }

  void pass(std::chrono::milliseconds time) {
    loop.run([until = std::chrono::steady_clock::now() + time] {
      return std::chrono::steady_clock::now() > until;
    });
  }

  TestLoop loop;
  std::unique_ptr<LauncherProcesses> processes;

 private:
  std::string home_;
  std::vector<std::unique_ptr<LauncherProcesses>> earlier_;  // the loop may still hold their steps
  std::size_t processes_max_;
  std::int64_t sweep_after_ms_;
  PlainWorker worker_;
  FullDisk keeper_;
};

}  // namespace

TEST_CASE("a command waits at its gate, runs once it is released, and leaves nothing behind") {
  Machine machine;
  const auto heard = machine.start("proc_1", "echo out; exit 3");
  REQUIRE(machine.loop.run([&] { return heard->ready; }));
  machine.pass(100ms);
  CHECK(heard->text.empty());
  machine.processes->release(ProcessId{"proc_1"});
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->end->exit_code == 3);
  CHECK(heard->text == "out\n");
  CHECK(heard->end->preview == "out\n");
  CHECK(heard->end->lost.empty());
  machine.pass(100ms);
  CHECK(machine.folders() == 1);  // until the end is in the log
  machine.processes->settled(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
}

TEST_CASE("no more commands are confined at once than the limit, and the others get their turn") {
  constexpr std::size_t kAtOnce = 2;
  Machine machine(kAtOnce);
  std::vector<std::shared_ptr<RecordingListener>> all;
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
  CHECK(heard->end->preview.ends_with("[the rest of stdout could not be stored: no room]"));
  REQUIRE(heard->end->lost.size() == 1);
  CHECK(heard->end->lost.front().stream == "stdout");
  CHECK(heard->end->lost.front().size == 23'893);
  CHECK(heard->end->lost.front().kept == 0);
}

TEST_CASE("a command that is forgotten ends, and one that nobody can know about is lost") {
  Machine machine;
  const auto heard = machine.start("proc_1", "sleep 100");
  REQUIRE(machine.loop.run([&] { return heard->ready; }));
  machine.processes->release(ProcessId{"proc_1"});
  machine.processes->forget(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
  CHECK_FALSE(heard->end.has_value());
  const auto found = std::make_shared<RecordingListener>();
  machine.processes->find(ProcessId{"proc_9"}, found);
  REQUIRE(machine.loop.run([&] { return found->end.has_value(); }));
  CHECK(found->end->failure->category == schema::Category::lost);
}

TEST_CASE("a command that was forgotten at its gate can be started again under its name") {
  Machine machine;
  for (int again = 0; again < 5; ++again) {
    const auto heard = machine.start("proc_1", "echo never");
    if (again % 2 == 0) REQUIRE(machine.loop.run([&] { return heard->ready; }));
    machine.processes->forget(ProcessId{"proc_1"});
  }
  const auto heard = machine.start("proc_1", "echo yes");
  REQUIRE(machine.loop.run([&] { return heard->ready; }));
  machine.processes->release(ProcessId{"proc_1"});
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->end->exit_code == 0);
  CHECK(heard->end->preview == "yes\n");
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

TEST_CASE("a background process continues without its runtime, and the next one gets the rest") {
  Machine machine;
  const auto first = machine.run("proc_1", "echo one; read line; echo got $line; exit 7");
  REQUIRE(machine.loop.run([&] { return first->text == "one\n"; }));
  machine.processes->stop();
  machine.boot();
  const auto second = machine.follow("proc_1", 4);
  REQUIRE(machine.loop.run([&] { return second->found; }));
  machine.processes->write(ProcessId{"proc_1"}, "two\n", ports::AfterInput::closes);
  REQUIRE(machine.loop.run([&] { return second->end.has_value(); }));
  CHECK(second->text == "got two\n");
  CHECK(second->end->exit_code == 7);
  machine.processes->settled(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
}

TEST_CASE("one that ended while no runtime was there is known by its record") {
  Machine machine;
  const auto gone = machine.run("proc_1", "echo up; sleep 0.5; echo done; exit 5");
  REQUIRE(machine.loop.run([&] { return gone->text == "up\n"; }));
  machine.processes->stop();
  REQUIRE(machine.loop.run(
      [&] { return std::filesystem::exists(machine.run_folder() + "/proc_1/exit.json"); }));
  // Each runtime dies before its log has the end.
  for (const std::uint64_t heard_before : {0u, 3u, 8u}) {
    machine.boot();
    const auto heard = machine.follow("proc_1", heard_before);
    REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
    CHECK_FALSE(heard->found);
    CHECK(heard->end->exit_code == 5);
    CHECK(heard->end->preview == "up\ndone\n");
    CHECK(heard->text == std::string("up\ndone\n").substr(heard_before));
    machine.processes->stop();
  }
}

TEST_CASE("what was printed is passed on and shown when no record says how it ended") {
  Machine machine;
  std::filesystem::create_directories(machine.run_folder() + "/proc_1");
  std::ofstream(machine.run_folder() + "/proc_1/stdout") << "one\ntwo\n";
  std::ofstream(machine.run_folder() + "/proc_1/stderr") << "three\n";
  const auto heard = machine.follow("proc_1", 4);
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->text == "two\nthree\n");
  CHECK(heard->end->failure->category == schema::Category::lost);
  CHECK(heard->end->preview == "one\ntwo\n[stderr]\nthree\n");
}

TEST_CASE("an end that the log may not know yet outlives a sweep") {
  Machine machine(8, 300);
  const auto heard = machine.run("proc_1", "echo out");
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  machine.pass(500ms);
  CHECK(machine.folders() == 1);
  machine.processes->settled(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
}

TEST_CASE("one that is forgotten when it has just ended leaves nothing behind") {
  Machine machine;
  const auto heard = machine.run("proc_1", "true");
  REQUIRE(machine.loop.run(
      [&] { return std::filesystem::exists(machine.run_folder() + "/proc_1/exit.json"); }));
  machine.processes->forget(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
}

TEST_CASE("a process whose runtime died before its release never ran, and the next runtime knows") {
  for (const auto place : {Machine::Place::foreground, Machine::Place::background}) {
    Machine machine;
    const auto gone = machine.start("proc_1", "echo never", place);
    REQUIRE(machine.loop.run([&] { return gone->ready; }));
    machine.processes->stop();
    machine.boot();
    const auto heard = std::make_shared<RecordingListener>();
    const auto began = std::chrono::steady_clock::now();
    machine.processes->find(ProcessId{"proc_1"}, heard);
    REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
    CHECK(heard->end->never_ran);
    CHECK(heard->end->failure->category == schema::Category::interrupted);
    CHECK(std::chrono::steady_clock::now() - began < 2s);
  }
}

TEST_CASE("one of which nothing is left is lost") {
  Machine machine;
  const auto heard = machine.follow("proc_9");
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->end->failure->category == schema::Category::lost);
}

TEST_CASE("input for one that is not found again is refused, not dropped") {
  Machine machine;
  const auto heard = machine.follow("proc_9");
  machine.processes->write(ProcessId{"proc_9"}, "y\n", ports::AfterInput::stays_open);
  REQUIRE(machine.loop.run([&] { return heard->refusals > 0; }));
  CHECK(heard->refusals == 1);
}

TEST_CASE("one that ignores being asked is ended, also by a runtime that only found it") {
  Machine machine;
  const auto first = machine.run("proc_1", "trap '' TERM; echo up; while :; do sleep 1; done");
  REQUIRE(machine.loop.run([&] { return first->text == "up\n"; }));
  machine.processes->stop();
  machine.boot();
  const auto second = machine.follow("proc_1", 3);
  REQUIRE(machine.loop.run([&] { return second->found; }));
  machine.processes->terminate(ProcessId{"proc_1"});
  REQUIRE(machine.loop.run([&] { return second->end.has_value(); }));
  CHECK(second->end->signal == SIGKILL);
}

TEST_CASE("a terminal is one, has a size and takes what is typed") {
  Machine machine;
  const auto heard =
      machine.run("proc_1", "tty -s && stty size; read line; stty size", Machine::Place::terminal);
  REQUIRE(machine.loop.run([&] { return heard->text.find("24 80") != std::string::npos; }));
  machine.processes->resize(ProcessId{"proc_1"}, 50, 120);
  machine.processes->write(ProcessId{"proc_1"}, "x\n", ports::AfterInput::stays_open);
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->text.find("50 120") != std::string::npos);
}

TEST_CASE("no more go on in the background than the limit, and one too many never runs") {
  Machine machine;
  const auto one = machine.run("proc_1", "sleep 100"), two = machine.run("proc_2", "sleep 100");
  const auto three = machine.start("proc_3", "sleep 100", Machine::Place::background);
  REQUIRE(machine.loop.run([&] { return three->end.has_value(); }));
  CHECK(three->end->failure->category == schema::Category::unavailable);
  CHECK_FALSE(three->ready);
  for (const char* name : {"proc_1", "proc_2"}) machine.processes->forget(ProcessId{name});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
}

TEST_CASE("output of a background process is reported up to a limit, and the rest is kept") {
  Machine machine;
  const auto heard = machine.run("proc_1", "head -c 400000 /dev/zero | tr '\\0' x");
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->text.size() == schema::kBackgroundInlineBytes);
}

TEST_CASE("what runs in a folder that nobody asks for is ended") {
  Machine machine(8, 1'500);
  const auto heard = machine.run("proc_1", "echo up; sleep 100");
  REQUIRE(machine.loop.run([&] { return heard->text == "up\n"; }));
  machine.processes->leave(ProcessId{"proc_1"});
  CHECK(machine.loop.run([&] { return machine.folders() == 0; }));
  CHECK_FALSE(attach(machine.run_folder() + "/proc_1"));
}

TEST_CASE("pieces of output do not split a character") {
  Machine machine;
  const auto heard = machine.run("proc_1", "printf 'a%.0s' {1..4095}; printf 'é%.0s' {1..3000}");
  REQUIRE(machine.loop.run([&] { return heard->end.has_value(); }));
  CHECK(heard->pieces > 1);
  CHECK(heard->split == 0);
}

}  // namespace agentrt::adapters
