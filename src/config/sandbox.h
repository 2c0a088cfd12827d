// config/sandbox.h: the sandbox profile that the configuration gives a command on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "schema/sandbox.h"

namespace agentrt::config {

struct SandboxChoice {
  std::optional<schema::SandboxMode> mode;  // overrides the configured one
  std::optional<bool> network = {};         // overrides the configured one
  std::string workspace;
  std::vector<std::string> additional_roots = {};
  std::optional<std::string> cwd = {};   // below a root; absolute or relative to the workspace
  std::vector<std::string> hidden = {};  // additional paths to hide
  // Absolute folders inside the roots: the only writable ones. Absent: every root is writable.
  std::optional<std::vector<std::string>> write_roots = {};
  Environment variables = {};  // for the command; empty: the runtime's own environment
  // It is a command of a person or of the model, which gets [sandbox] write and [shell] env.
  bool shell = false;
};

// The profile of a command in the workspace. Folders of [sandbox] write that do not exist are left
// out. Fails with invalid_params if the host policy forbids
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

}  // namespace agentrt::config
