// adapters/process/sandbox.h: translates a sandbox profile into the launcher's spec on this
// machine.
#pragma once

#include <span>

#include "adapters/process/repositories.h"
#include "launcher/spec.h"
#include "schema/sandbox.h"

namespace agentrt::adapters {

// The layers that the profile requires. If one is unavailable, the command does not run. See the
// table in docs/sandbox.md.
launcher::Layers required_layers(const schema::SandboxProfile& profile);

// The consequence of a missing layer and its remedy: the table in docs/sandbox.md, also printed by
// `agentrt doctor`.
struct LayerRule {
  launcher::Layer layer;
  const char* without;
  const char* remedy;
};
std::span<const LayerRule> layer_rules();
// Whether the profile uses the layer on this machine.
bool applies(launcher::Layer layer, const schema::SandboxProfile& profile);

// The repositories that commands under the profile may write. None if it makes nothing or
// everything writable.
Repositories repositories_of(const schema::SandboxProfile& profile);

// A spec that runs the command under the profile, with every applicable layer.
launcher::Spec spec_of(const schema::SandboxProfile& profile, std::vector<std::string> argv);
// The same for a caller that already has repositories_of(profile).
launcher::Spec spec_of(const schema::SandboxProfile& profile, std::vector<std::string> argv,
                       const Repositories& repositories);

}  // namespace agentrt::adapters
