// runtime/sandbox.h: the configured sandbox on this machine: its profile, running one command in
// it, and which layers the kernel enforces.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

struct SandboxChoice {
  std::optional<schema::SandboxMode> mode;  // overrides the configured one
  std::optional<bool> network = {};         // overrides the configured one
  std::string workspace;
  std::vector<std::string> additional_roots = {};
  std::optional<std::string> cwd = {};   // below a root; absolute or relative to the workspace
  std::vector<std::string> hidden = {};  // additional paths to hide
};

// The profile of a command in the workspace. Fails with invalid_params if the host policy forbids
// the choice, if a root is not a folder, is /, or lies within a hidden path, or if `cwd` is outside
// the roots.
Result<schema::SandboxProfile> sandbox_profile_of(const Config& config, const SandboxChoice& choice,
                                                  const std::string& data,
                                                  const Environment& environment);
// The same for display only. Skips the checks for roots that are / or lie within hidden paths,
// which would access every hidden path.
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
