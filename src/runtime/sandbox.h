// runtime/sandbox.h: the sandbox as configured on this machine: its profile, one command in it, and
// what the kernel really gives.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

struct SandboxChoice {
  std::optional<schema::SandboxMode> mode;  // in place of the configured one
  std::optional<bool> network = {};         // in place of the configured one
  std::string workspace;
  std::vector<std::string> additional_roots = {};
  std::optional<std::string> cwd = {};   // below a root; relative to the workspace or absolute
  std::vector<std::string> hidden = {};  // further paths that are not there for it
};

// What a command in the workspace gets. invalid_params: the host policy does not allow the choice,
// a root is not a folder, is / or lies within what is hidden, or `cwd` lies outside them.
Result<schema::SandboxProfile> sandbox_profile_of(const Config& config, const SandboxChoice& choice,
                                                  const std::string& data,
                                                  const Environment& environment);
// The same to tell of, and not to run with: whether a root lies within what is hidden, or is /, is
// not looked into, which takes a look at every hidden path.
Result<schema::SandboxProfile> sandbox_outline_of(const Config& config, const SandboxChoice& choice,
                                                  const std::string& data,
                                                  const Environment& environment);

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
  std::optional<int> exec_error;  // the sandbox stood, but the command could not be executed
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::vector<LayerReport> layers;
  std::vector<SandboxViolation> violations;
  std::uint64_t violation_count = 0;
  std::vector<std::string> limits_hit;  // memory, processes
};

// Runs one command with this process's own standard input and outputs, to its end.
// unavailable: the launcher could not be started.
Result<SandboxOutcome> run_in_sandbox(const schema::SandboxProfile& profile,
                                      std::vector<std::string> command);

// What this machine's kernel gives a command, layer by layer, found by running one that does
// nothing.
struct SandboxFinding {
  std::string layer;
  bool enforced = false;
  bool required = false;  // without it nothing runs
  std::string finding;    // how it is in force, or why not
  std::string without;    // what its absence means
  std::string remedy;
};
struct SandboxCheckup {
  bool runs = false;
  std::string refusal;
  std::vector<SandboxFinding> layers;
};
SandboxCheckup check_sandbox(const schema::SandboxProfile& profile);

}  // namespace agentrt::runtime
