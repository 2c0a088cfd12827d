#include "sim/fakes/fake_processes.h"

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
    if (process.stage == FakeStage::held ||
        (process.stage == FakeStage::running && !process.background))
      process.stage = FakeStage::killed;
}

void FakeMachine::run_on() {
  for (auto& [id, process] : processes)
    if (process.background && process.stage == FakeStage::running) {
      process.printed = process.text.size();
      process.stage = FakeStage::ended;
    }
}

void FakeProcesses::start(ports::ProcessRequest request,
                          std::shared_ptr<ports::ProcessListener> listener) {
  const ProcessId id = request.id;
  FakeProcess& process = machine_.processes[id];
  process.stage = FakeStage::held;
  process.command = request.command;
  process.text = machine_.prints.value_or(request.command);
  process.argv = request.argv;
  if (machine_.environment_of) process.environment = machine_.environment_of(request.turn);
  process.background = request.background;
  process.stored_input = request.input;
  process.forgotten = false;
  listeners_[id] = std::move(listener);
  if (!machine_.holds) release(id);
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
  if (machine_.on_release) machine_.on_release(id);
  process.stage = FakeStage::running;
  ++process.runs;
  go_on(id);
}

// Prints half of the output now and half later, then ends.
void FakeProcesses::go_on(const ProcessId& id) {
  FakeProcess& process = machine_.processes[id];
  process.printed = std::max(process.printed, process.text.size() / 2);
  show(id);
  if (machine_.hangs) return;
  loop_.after(machine_.run_ms, [this, id] {
    FakeProcess& running = machine_.processes[id];
    if (running.stage != FakeStage::running) return;
    running.printed = running.text.size();
    show(id);
    running.stage = FakeStage::ended;
    loop_.after(1, [this, id] { end(id); });
  });
}

void FakeProcesses::show(const ProcessId& id) {
  const auto found = listeners_.find(id);
  const FakeProcess& process = machine_.processes[id];
  std::size_t& shown = shown_[id];
  if (found == listeners_.end() || shown >= process.printed) return;
  schema::ProcessOutput output;
  output.text = process.text.substr(shown, process.printed - shown);
  output.offset = shown;
  shown = process.printed;
  found->second->on_output(std::move(output));
}

ports::ProcessEnd FakeProcesses::outcome(const FakeProcess& process) const {
  const bool recorded = !process.forgotten;
  if (recorded && process.ended_by_us) return {.signal = 15};
  const bool forgets = !machine_.recalls_runs && process.stage != FakeStage::ended;
  if (recorded && ((process.runs == 0 && machine_.recalls) || forgets))
    return {.failure = Failure{Category::interrupted, "it was never let go", false},
            .never_ran = true};
  if (!recorded || process.stage != FakeStage::ended)
    return {.failure = Failure{Category::lost,
                               "the runtime stopped while the command ran, and how it ended is not "
                               "known",
                               false}};
  const bool exits = process.command.starts_with("exit ");
  ports::ProcessEnd end;
  end.exit_code = exits ? std::atoi(process.command.c_str() + 5) : 0;
  end.preview = process.text;
  return end;
}

void FakeProcesses::end(const ProcessId& id) {
  const auto found = listeners_.find(id);
  if (found == listeners_.end()) return;
  const auto heard = found->second;
  listeners_.erase(found);
  if (machine_.on_end) machine_.on_end();
  heard->on_ended(outcome(machine_.processes[id]));
  if (!machine_.keeps_records) settled(id);
}

void FakeProcesses::terminate(const ProcessId& id) {
  FakeProcess& process = machine_.processes[id];
  if (process.stage == FakeStage::ended) return;
  process.stage = process.stage == FakeStage::running ? FakeStage::ended : FakeStage::killed;
  process.ended_by_us = true;
  loop_.after(1, [this, id] { end(id); });
}

void FakeProcesses::leave(const ProcessId& id) { listeners_.erase(id); }
void FakeProcesses::settled(const ProcessId& id) { machine_.processes[id].forgotten = true; }

void FakeProcesses::kill_launchers() {
  for (auto& [id, process] : machine_.processes) {
    if (!process.background || process.stage != FakeStage::running) continue;
    process.stage = FakeStage::killed;
    loop_.after(1, [this, id] {
      show(id);
      end(id);
    });
  }
}

void FakeProcesses::write(const ProcessId& id, std::string input, ports::AfterInput) {
  FakeProcess& process = machine_.processes[id];
  if (process.stage == FakeStage::running) process.input += input;
}

Result<schema::ExecutionEnvironment> FakeProcesses::environment(
    const ports::ProcessRequest& request) {
  schema::ExecutionEnvironment out;
  out.workspace_id = "ws_1";
  out.cwd = request.workspace;
  out.shell = "/bin/bash";
  return out;
}

void FakeProcesses::follow(const ProcessId& id, const ports::ReceivedSoFar& heard,
                           std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[id] = std::move(listener);
  shown_[id] = heard.out;
  loop_.after(1, [this, id] {
    const auto found = listeners_.find(id);
    if (found == listeners_.end()) return;
    const bool runs = machine_.processes[id].stage == FakeStage::running;
    if (runs) found->second->on_found();
    if (runs) return go_on(id);
    const FakeProcess& process = machine_.processes[id];
    if (machine_.passes_tails && !process.forgotten) show(id);
    loop_.after(1, [this, id] { end(id); });
  });
}

void FakeProcesses::forget(const ProcessId& id) {
  listeners_.erase(id);
  FakeProcess& process = machine_.processes[id];
  if (process.stage != FakeStage::ended) process.stage = FakeStage::killed;
}

void FakeProcesses::find(const ProcessId& id, std::shared_ptr<ports::ProcessListener> listener) {
  listeners_[id] = std::move(listener);
  loop_.after(1, [this, id] { end(id); });
}

}  // namespace agentrt::sim
