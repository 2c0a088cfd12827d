// adapters/process/launch.h: starting the launcher, which is carried inside this program.
//
// The launcher is spawned, never forked to: a process of any size starts one in the time of a small
// one. It is executed from memory, so there is no second file to install, to lose or to replace.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/result.h"
#include "launcher/spec.h"

namespace agentrt::adapters {

// A launcher that was started: its process, and our end of the connection to it.
class Launched {
 public:
  Launched(pid_t pid, int control) : pid_(pid), control_(control) {}
  ~Launched();
  Launched(Launched&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), control_(std::exchange(other.control_, -1)) {}
  Launched& operator=(Launched&&) = delete;

  pid_t pid() const { return pid_; }
  int control() const { return control_; }

  // One whole order: go, input TEXT, closeInput, signal N, resize ROWS COLUMNS, status.
  Result<void> order(const std::string& text) const;
  // The next report as JSON; empty once the launcher is gone. Waits for it.
  Result<std::string> report() const;
  // Waits for the launcher itself; its exit code.
  int wait();

 private:
  pid_t pid_;
  int control_;  // closing it ends a command that may not survive
};

// Errors: unavailable (the machine cannot start a process, or not from memory).
Result<Launched> launch(const launcher::Spec& spec);

}  // namespace agentrt::adapters
