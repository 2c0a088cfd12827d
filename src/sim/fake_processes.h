// sim/fake_processes.h: processes on a machine that outlives the runtime.
//
// What a process did stays known to the machine when the runtime crashes; what the runtime can find
// out afterwards is only what the process had recorded by then: its end, or nothing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ports/loop.h"
#include "ports/processes.h"

namespace agentrt::sim {

enum class FakeStage { held, running, ended, killed };

struct FakeProcess {
  FakeStage stage = FakeStage::held;
  std::size_t runs = 0;  // how often its command was let go
  std::string command;
};

struct FakeMachine {
  std::map<ProcessId, FakeProcess> processes;
  std::int64_t setup_ms = 3;
  std::int64_t run_ms = 20;
  bool hangs = false;    // commands never end by themselves
  bool confines = true;  // false: the sandbox cannot be applied

  std::size_t runs() const;
  // The runtime is gone: what was connected to it ends.
  void lose_runtime();
};

// Plays the machine. "exit N" exits with N, anything else prints itself and exits with 0.
class FakeProcesses final : public ports::Processes {
 public:
  FakeProcesses(ports::Loop& loop, FakeMachine& machine) : loop_(loop), machine_(machine) {}

  void start(ports::ProcessRequest request,
             std::shared_ptr<ports::ProcessListener> listener) override;
  void release(const ProcessId& process) override;
  void terminate(const ProcessId& process) override;
  void forget(const ProcessId& process) override;
  void find(const ProcessId& process, std::shared_ptr<ports::ProcessListener> listener) override;

 private:
  void end(const ProcessId& process);
  static ports::ProcessEnd outcome(const FakeProcess& process);

  ports::Loop& loop_;
  FakeMachine& machine_;
  std::map<ProcessId, std::shared_ptr<ports::ProcessListener>> listeners_;
};

}  // namespace agentrt::sim
