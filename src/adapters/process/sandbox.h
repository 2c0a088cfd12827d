// adapters/process/sandbox.h: from a profile to what the launcher is asked for on this machine.
#pragma once

#include <span>

#include "launcher/spec.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

// Which layers must be in force for the profile; with one of them missing nothing runs. The table
// is in docs/sandbox.md.
launcher::Layers required_layers(const schema::SandboxProfile& profile);

// What each layer is for, what its absence means and what to do about it: the table of
// docs/sandbox.md, which `agentrt doctor` prints from here.
struct LayerRule {
  launcher::Layer layer;
  const char* without;
  const char* remedy;
};
std::span<const LayerRule> layer_rules();
// The layer has a part in the profile on this machine.
bool applies(launcher::Layer layer, const schema::SandboxProfile& profile);

// The command in the profile, with every layer that helps it.
launcher::Spec spec_of(const schema::SandboxProfile& profile, std::vector<std::string> argv);

// The path without symlinks, or as it is where it does not exist.
std::string real_path(const std::string& path);

}  // namespace agentrt::adapters
