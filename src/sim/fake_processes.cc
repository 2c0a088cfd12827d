#include "sim/fake_processes.h"

#include <cstdlib>

namespace agentrt::sim {

using schema::Category;
using schema::Failure;

std::size_t FakeMachine::runs() const {
  std::size_t total = 0;
  for (const auto& [id, process] : processes) total += process.runs;
  return total;
}

void FakeMachine::lose_runtime() {
  for (auto& [id, process] : processes)
    if (process.stage == FakeStage::held || process.stage == FakeStage::running)
      process.stage = FakeStage::killed;
}

void FakeProcesses::start(ports::ProcessRequest request,
                          std::shared_ptr<ports::ProcessListener> listener) {
  const ProcessId id = request.id;
  FakeProcess& process = machine_.processes[id];
  process.stage = FakeStage::held;
  process.command = request.command;
  listeners_[id] = std::move(listener);
  loop_.after(machine_.setup_ms, [this, id] {
    const auto found = listeners_.find(id);
    if (found == listeners_.end()) return;
    const auto heard = found->second;
    if (!machine_.confines) {
      listeners_.erase(found);
      return heard->on_ended(
          {.failure = Failure{Category::sandbox, "the sandbox cannot be applied", false}});
    }
    schema::SandboxApplied sandbox;
    sandbox.mode = schema::SandboxMode::workspace_write;
    schema::ProcessStarted started;
    started.command = machine_.processes[id].command;
    started.pid = 7;
    heard->on_ready(sandbox, started);
  });
}

void FakeProcesses::release(const ProcessId& id) {
  FakeProcess& process = machine_.processes[id];
  if (process.stage != FakeStage::held) return;
  process.stage = FakeStage::running;
  ++process.runs;
  if (machine_.hangs) return;
  loop_.after(machine_.run_ms, [this, id] {
    FakeProcess& running = machine_.processes[id];
    if (running.stage != FakeStage::running) return;
    if (const auto found = listeners_.find(id); found != listeners_.end()) {
      schema::ProcessOutput output;
      output.text = running.command;
      output.offset = 0;
      found->second->on_output(std::move(output));
    }
    running.stage = FakeStage::ended;
    loop_.after(1, [this, id] { end(id); });
  });
}

ports::ProcessEnd FakeProcesses::outcome(const FakeProcess& process) {
  const bool exits = process.command.starts_with("exit ");
  ports::ProcessEnd end;
  end.exit_code = exits ? std::atoi(process.command.c_str() + 5) : 0;
  end.preview = process.command;
  return end;
}

void FakeProcesses::end(const ProcessId& id) {
  const auto found = listeners_.find(id);
  if (found == listeners_.end()) return;
  const auto heard = found->second;
  listeners_.erase(found);
  heard->on_ended(outcome(machine_.processes[id]));
}

void FakeProcesses::terminate(const ProcessId& id) {
  FakeProcess& process = machine_.processes[id];
  if (process.stage == FakeStage::ended) return;
  process.stage = FakeStage::killed;
  const auto found = listeners_.find(id);
  if (found == listeners_.end()) return;
  const auto heard = found->second;
  listeners_.erase(found);
  loop_.after(1, [heard] { heard->on_ended({.signal = 15}); });
}

void FakeProcesses::forget(const ProcessId& id) {
  listeners_.erase(id);
  FakeProcess& process = machine_.processes[id];
  if (process.stage != FakeStage::ended) process.stage = FakeStage::killed;
}

void FakeProcesses::find(const ProcessId& id, std::shared_ptr<ports::ProcessListener> listener) {
  loop_.after(1, [this, id, listener] {
    const FakeProcess& process = machine_.processes[id];
    if (process.stage == FakeStage::ended) return listener->on_ended(outcome(process));
    listener->on_ended({.failure = Failure{Category::lost,
                                           "the runtime stopped while the command ran, and how it "
                                           "ended is not known",
                                           false}});
  });
}

}  // namespace agentrt::sim
