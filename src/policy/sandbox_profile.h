// policy/sandbox_profile.h: decides what a command may see and change, from the settings.
//
// Commands write only below `roots`, except to protected paths there (git folders, configuration of
// this runtime and of hooks). Hidden paths cannot be seen: credentials in the user's home, sockets
// of other services, folders of the runtime, and paths that deny rules name.
//
// Pure: computes with path texts and does not read the file system. The same profile goes to the
// launcher and to `agentrt sandbox --explain`, so the two cannot differ.
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
  std::string cwd;                     // the working directory: a root or below one
  std::vector<std::string> roots;      // the workspace first; absolute, without symlinks
  std::string home;                    // of the user who runs the runtime
  std::vector<std::string> own_paths;  // folders of the runtime: its data, its configuration
  std::vector<std::string> denied;     // paths that deny rules hide
  std::map<std::string, std::string> environment;  // the runtime's environment
  std::map<std::string, std::string> added;        // variables that the configuration sets
};

// The variables of the runtime's environment that a command gets; all others are removed.
std::span<const std::string_view> environment_kept();

schema::SandboxProfile sandbox_profile(const SandboxInputs& inputs);

}  // namespace agentrt::policy
