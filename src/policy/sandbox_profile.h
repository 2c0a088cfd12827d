// policy/sandbox_profile.h: what a command may see and touch, decided from the settings.
//
// Pure: paths in, paths out; nothing is looked up. The profile is what the launcher is asked for
// and what `agentrt sandbox --explain` prints, so the two cannot differ.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/sandbox.h"

namespace agentrt::policy {

struct SandboxInputs {
  schema::SandboxMode mode = schema::SandboxMode::workspace_write;
  schema::CommandNetwork network = schema::CommandNetwork::none;
  std::string cwd;                     // where the command starts: a root or below one
  std::vector<std::string> roots;      // the workspace first; absolute, without symlinks
  std::string home;                    // of whoever runs the runtime
  std::vector<std::string> own_paths;  // folders of the runtime: its data, its configuration
  std::vector<std::string> denied;     // paths that policy denies
  std::map<std::string, std::string> environment;  // the runtime's own
};

// The names of the runtime's environment that a command gets; no others.
std::span<const std::string_view> environment_kept();

schema::SandboxProfile sandbox_profile(const SandboxInputs& inputs);

}  // namespace agentrt::policy
