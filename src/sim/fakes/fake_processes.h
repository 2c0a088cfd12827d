// sim/fakes/fake_processes.h: processes on a machine that outlives the runtime.
//
// What a process did stays known to the machine when the runtime crashes; what the runtime can find
// out afterwards is only what the process had recorded by then: its end, or nothing. One in the
// background goes on, and what it prints waits for whoever follows it, also when it has ended or
// its launcher was killed. Record and output are gone once the runtime says that its log has the
// end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ports/loop.h"
#include "ports/processes.h"

namespace agentrt::sim {

enum class FakeStage { held, running, ended, killed };

struct FakeProcess {
  FakeStage stage = FakeStage::held;
  std::size_t runs = 0;  // how often its command was let go
  std::string command;
  std::vector<std::string> argv;
  bool background = false;
  std::string text;         // what it prints
  std::size_t printed = 0;  // of its text, in bytes
  std::string input;        // what it was given
  bool ended_by_us = false;
  bool forgotten = false;  // its record and what it printed are removed from the disk
};

struct FakeMachine {
  std::map<ProcessId, FakeProcess> processes;
  std::int64_t setup_ms = 3;
  std::int64_t run_ms = 20;
  std::optional<std::string> prints;  // the text of every command; none: the command itself
  bool hangs = false;                 // commands never end by themselves
  bool recalls = true;                // false: of what was never let go nobody knows that
  bool confines = true;               // false: the sandbox cannot be applied
  // False: defects that can be planted.
  bool holds = true;          // commands run when they are let go, not when they are started
  bool keeps_records = true;  // until the log has the end
  bool passes_tails = true;   // of output, when nobody is connected to a launcher any more
  std::function<void(const ProcessId&)> on_release;  // told before a command is let go
  std::function<void()> on_end;                      // told before the end of one is heard

  std::size_t runs() const;
  // The runtime is gone: what was connected to it ends.
  void lose_runtime();
  // What runs in the background prints the rest and ends, without a runtime.
  void run_on();
};

// Plays the machine. A command prints its text in two pieces; "exit N" exits with N, any other with
// 0.
class FakeProcesses final : public ports::Processes {
 public:
  FakeProcesses(ports::Loop& loop, FakeMachine& machine) : loop_(loop), machine_(machine) {}

  void start(ports::ProcessRequest request,
             std::shared_ptr<ports::ProcessListener> listener) override;
  void release(const ProcessId& process) override;
  void terminate(const ProcessId& process) override;
  void forget(const ProcessId& process) override;
  void leave(const ProcessId& process) override;
  void settled(const ProcessId& process) override;
  void find(const ProcessId& process, std::shared_ptr<ports::ProcessListener> listener) override;
  void follow(const ProcessId& process, const ports::HeardSoFar& heard,
              std::shared_ptr<ports::ProcessListener> listener) override;
  void write(const ProcessId& process, std::string input, ports::AfterInput after) override;
  void resize(const ProcessId&, std::uint64_t, std::uint64_t) override {}
  Result<schema::ExecutionEnvironment> environment(const ports::ProcessRequest& request) override;

  // Those of processes in the background that run; their commands end with them.
  void kill_launchers();

 private:
  void go_on(const ProcessId& process);
  void show(const ProcessId& process);
  void end(const ProcessId& process);
  ports::ProcessEnd outcome(const FakeProcess& process) const;

  ports::Loop& loop_;
  FakeMachine& machine_;
  std::map<ProcessId, std::shared_ptr<ports::ProcessListener>> listeners_;
  std::map<ProcessId, std::size_t> shown_;  // of what it printed, to its listener
};

}  // namespace agentrt::sim
