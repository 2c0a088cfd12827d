// sim/fakes/fake_processes.h: simulated processes on a machine that outlives the runtime.
//
// After a crash, the runtime can find out only what a process had recorded: its end, or nothing. A
// background process keeps running, and its output waits for the next runtime that follows it, even
// if the process has ended or its launcher was killed. Record and output are removed when the
// runtime reports that its log has the end.
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
  std::size_t runs = 0;  // how often its command was released
  std::string command;
  std::vector<std::string> argv;
  std::string environment;  // names the client whose environment it has
  bool background = false;
  std::string text;                                     // what it prints
  std::size_t printed = 0;                              // of its text, in bytes
  std::string input;                                    // what it was given
  std::optional<ports::StoredInput> stored_input = {};  // its standard input
  bool ended_by_us = false;
  bool forgotten = false;  // its record and output were removed
};

struct FakeMachine {
  std::map<ProcessId, FakeProcess> processes;
  std::int64_t setup_ms = 3;
  std::int64_t run_ms = 20;
  std::optional<std::string> prints;  // the text of every command; none: the command itself
  bool hangs = false;                 // commands never end by themselves
  bool recalls = true;                // false: forgets that a process was never released
  bool confines = true;               // false: the sandbox cannot be applied
  // False: defects that can be planted.
  bool holds = true;          // commands run when they are released, not when they are started
  bool keeps_records = true;  // until the log has the end
  bool passes_tails = true;   // output printed without a connection is delivered later
  bool recalls_runs = true;   // a command that was killed while it ran is known to have run
  std::function<void(const ProcessId&)> on_release;  // called before a command is released
  std::function<void()> on_end;                      // called before an end is reported
  // The environment of a turn's commands; empty: they have none.
  std::function<std::string(const TurnId&)> environment_of;

  std::size_t runs() const;
  // The runtime died: processes connected to it end.
  void lose_runtime();
  // Background processes print the rest and end, while there is no runtime.
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
  void follow(const ProcessId& process, const ports::ReceivedSoFar& heard,
              std::shared_ptr<ports::ProcessListener> listener) override;
  void write(const ProcessId& process, std::string input, ports::AfterInput after) override;
  void resize(const ProcessId&, std::uint64_t, std::uint64_t) override {}
  Result<schema::ExecutionEnvironment> environment(const ports::ProcessRequest& request) override;

  // Kills the launchers of running background processes; their commands end too.
  void kill_launchers();

 private:
  void go_on(const ProcessId& process);
  void show(const ProcessId& process);
  void end(const ProcessId& process);
  ports::ProcessEnd outcome(const FakeProcess& process) const;

  ports::Loop& loop_;
  FakeMachine& machine_;
  std::map<ProcessId, std::shared_ptr<ports::ProcessListener>> listeners_;
  std::map<ProcessId, std::size_t> shown_;  // bytes of output passed to the listener
};

}  // namespace agentrt::sim
