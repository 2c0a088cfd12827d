// adapters/process/launch.h: starts launchers. The launcher program is embedded in this binary.
//
// The launcher runs from a memory file, so there is no second file to install or replace. Launchers
// are copies of an origin process (origin.h), because forking it is cheap, whatever the size of
// this process.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"
#include "launcher/spec.h"

namespace agentrt::adapters {

// A launcher and our connection to it. Either started by this process, or found again by attach();
// then it is not our child, and we cannot wait for it.
class Launched {
 public:
  Launched(pid_t pid, int control) : pid_(pid), control_(control) {}
  ~Launched();
  Launched(Launched&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), control_(std::exchange(other.control_, -1)) {}
  Launched& operator=(Launched&&) = delete;

  pid_t pid() const { return pid_; }
  int control() const { return control_; }

  // Sends one order: go, input TEXT, closeInput, signal N, resize ROWS COLUMNS, status. Never
  // blocks. Errors: unavailable: the launcher is gone, or does not accept more.
  Result<void> order(const std::string& text) const;
  // Blocks for the next report and returns its JSON; empty once the launcher is gone.
  Result<std::string> report() const;
  // Waits for the launcher and returns its exit code; 0 for an attached one.
  int wait();
  // A descriptor that becomes readable when the launcher ends; invalid for an attached one.
  Descriptor end() const;
  // Closes the connection. That kills a command that is still at its start gate or must not
  // survive.
  void close();
  // Closes the connection and stops waiting for the launcher. A surviving command keeps running.
  void leave();

 private:
  pid_t pid_;
  int control_;  // closing it kills a command that must not survive
};

// Standard streams of a command without a run folder; -1: those of this process.
struct Streams {
  int in = -1, out = -1, err = -1;
};

std::string_view launcher_program();  // the executable's bytes

// `copies`: the approved contents of the held files in the spec; -1: none. Errors: unavailable: the
// machine cannot start a process, or none from memory.
Result<Launched> launch(const launcher::Spec& spec, const Streams& streams = {}, int copies = -1);

// Prepares the next launch in advance. Call it when no launch is urgent, such as while a command
// runs.
void get_ready_for_next();

// Connects to the launcher of this run folder. Only that launcher can listen there, so a reused pid
// cannot cause a mistake. Errors: unavailable: it is gone; overloaded: this process has no free
// descriptors, so the answer is unknown.
Result<Launched> attach(const std::string& run_folder);

}  // namespace agentrt::adapters
