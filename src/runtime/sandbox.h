// runtime/sandbox.h: runs one command in a sandbox, and finds out which layers of a sandbox this
// machine's kernel enforces.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

struct LayerReport {
  std::string name;
  bool enforced = false;
  std::string how;
};

struct SandboxViolation {
  std::string kind;
  std::string attempted;
  std::string layer;
  bool advisory = false;
};

struct SandboxOutcome {
  bool ran = false;
  std::string refusal;            // why it did not run
  std::optional<int> exec_error;  // set if the sandbox worked but execve failed
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::vector<LayerReport> layers;
  std::vector<SandboxViolation> violations;
  std::uint64_t violation_count = 0;
  std::vector<std::string> limits_hit;  // memory, processes
};

// Runs one command to its end with this process's standard streams. Fails with unavailable if the
// launcher could not be started.
Result<SandboxOutcome> run_in_sandbox(const schema::SandboxProfile& profile,
                                      std::vector<std::string> command);

// One sandbox layer on this machine's kernel, determined by running a no-op command.
struct SandboxFinding {
  std::string layer;
  bool enforced = false;
  bool required = false;  // no command runs without it
  std::string finding;    // how it is enforced, or why not
  std::string without;    // the consequence of its absence
  std::string remedy;
};
struct SandboxCheckup {
  bool runs = false;
  std::string refusal;
  std::vector<SandboxFinding> layers;
};
SandboxCheckup check_sandbox(const schema::SandboxProfile& profile);

}  // namespace agentrt::runtime
